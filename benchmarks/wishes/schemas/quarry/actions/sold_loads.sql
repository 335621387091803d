/* ---
action: sold_loads
version: 1.0.0
step: clean
description: Loads that were sold, without the voided tickets, with their net weight.
synonyms: [sold load, sale]
inputs:
  loads: {ticket_no: bigint, customer_id: int, grade_id: string, truck_plate: string, weighed_at: timestamp, empty_kg: int, full_kg: int, amount_cents: bigint, voided: boolean, haul: string}
output: {primary_key: [ticket_no], event_time: weighed_at}
columns:
  ticket_no: {references: ods.loads.ticket_no}
  customer_id: {description: customer who bought; empty for a cash buyer, references: ods.customers.customer_id}
  grade_id: {description: grade of stone, references: ods.grades.grade_id}
  truck_plate: {description: plate of the truck, synonyms: [truck, lorry, plate]}
  weighed_at: {description: when the full truck was weighed, synonyms: [weighed, sold]}
  haul: {description: who drove the stone, synonyms: [haulage], values: {COL: [collected, picked up], DEL: [delivered, brought]}}
  net_tonnes: {description: weight of the stone without the truck, synonyms: [net weight, tonnage], unit: t}
  amount_cents: {description: what the load costs, synonyms: [amount, price], unit: cents}
measures:
  sold_loads: {sql: COUNT(*), description: number of loads that were sold, synonyms: [loads sold]}
  tonnes_sold: {sql: SUM(net_tonnes), unit: t, description: tonnes that were sold, synonyms: [tonnes, tonnage sold, sold tonnage]}
  revenue: {sql: SUM(amount_cents) / 100, unit: EUR, description: amount of all sold loads, synonyms: [turnover, sales]}
dimensions:
  weighed_at: [year, quarter, month, week, day, hour]
--- */
SELECT
  ticket_no,
  customer_id,
  grade_id,
  truck_plate,
  weighed_at,
  haul,
  CAST(full_kg - empty_kg AS DOUBLE) / 1000 AS net_tonnes,
  amount_cents
FROM loads
WHERE NOT voided
