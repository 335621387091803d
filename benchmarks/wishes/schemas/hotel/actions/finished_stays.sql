/* ---
action: finished_stays
version: 1.0.0
step: clean
description: Bookings whose guests came and have left, with the room's kind and the number of nights.
synonyms: [stay, visit]
inputs:
  bookings:
    booking_id: bigint
    guest_id: bigint
    room_no: string
    channel_code: string
    check_in: date
    check_out: date
    status: string
    price_cents: bigint
  rooms: {room_no: string, kind: string, floor: int}
output: {primary_key: [booking_id], event_time: check_in}
columns:
  booking_id: {references: ods.bookings.booking_id}
  nights: {description: nights between arrival and departure, synonyms: [length of stay, duration], unit: nights}
measures:
  stays: {sql: COUNT(*), description: number of stays}
  room_revenue: {sql: SUM(price_cents) / 100, unit: EUR, description: price of all stays together, synonyms: [revenue, turnover, sales, income]}
  room_nights: {sql: SUM(nights), unit: nights, description: nights that rooms were taken, synonyms: [nights sold, occupied nights]}
dimensions:
  check_in: [month, week, day]
  room: {column: room_no, hierarchy: [floor, room_no]}
--- */
SELECT
  bookings.booking_id,
  bookings.guest_id,
  bookings.room_no,
  rooms.kind,
  rooms.floor,
  bookings.channel_code,
  bookings.check_in,
  bookings.check_out,
  DATEDIFF(bookings.check_out, bookings.check_in) AS nights,
  bookings.price_cents
FROM bookings
LEFT JOIN rooms ON rooms.room_no = bookings.room_no
WHERE bookings.status = 'OUT'
