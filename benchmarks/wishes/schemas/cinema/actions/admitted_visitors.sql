/* ---
action: admitted_visitors
version: 1.0.0
step: clean
description: Tickets that were not given back, with the film, the cinema and the start of the show; one row for each visitor.
synonyms: [visitor, viewer, attendance, audience]
inputs:
  tickets:
    ticket_id: bigint
    screening_id: bigint
    member_id: bigint
    ticket_type: string
    price_cents: bigint
    is_refunded: boolean
  screenings: {screening_id: bigint, film_id: bigint, screen_id: string, starts_at: timestamp}
  screens: {screen_id: string, cinema_code: string}
output: {primary_key: [ticket_id], event_time: starts_at}
columns:
  ticket_id: {references: ods.tickets.ticket_id}
  screening_id: {references: ods.screenings.screening_id}
  film_id: {description: film that was seen, references: ods.films.film_id}
  cinema_code: {description: cinema that was visited, references: ods.cinemas.cinema_code}
  starts_at: {description: when the show began, synonyms: [start, start time]}
  price_cents: {description: what the visitor paid, unit: cents}
measures:
  admissions: {sql: COUNT(*), description: number of visitors, synonyms: [visitors, viewers, attendance]}
  box_office: {sql: SUM(price_cents) / 100, unit: EUR, description: "what visitors paid for their tickets, without refunds", synonyms: [ticket revenue, takings]}
dimensions:
  starts_at: [month, week, day, hour]
--- */
SELECT
  tickets.ticket_id,
  tickets.screening_id,
  screenings.film_id,
  screens.cinema_code,
  tickets.member_id,
  tickets.ticket_type,
  screenings.starts_at,
  tickets.price_cents
FROM tickets
JOIN screenings ON screenings.screening_id = tickets.screening_id
JOIN screens ON screens.screen_id = screenings.screen_id
WHERE NOT tickets.is_refunded
