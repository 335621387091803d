/* ---
action: loads
version: 1.0.0
step: clean
description: What each weighing of a round brought in, with its district, vehicle and material.
synonyms: [load, waste collected]
inputs:
  weighings: {weighing_id: bigint, round_id: bigint, weighed_at: timestamp, net_kg: int, is_contaminated: boolean}
  rounds: {round_id: bigint, district_no: bigint, vehicle_id: string, material: string}
output: {primary_key: [weighing_id], event_time: weighed_at}
columns:
  weighing_id: {references: ods.weighings.weighing_id}
  round_id: {references: ods.rounds.round_id}
  district_no: {references: ods.districts.district_no}
  vehicle_id: {references: ods.vehicles.vehicle_id}
  material: {description: material that was collected}
  weighed_at: {description: when it was weighed}
  net_kg: {description: weight of the load, unit: kg}
measures:
  collected: {sql: SUM(net_kg), unit: kg, description: weight of all loads, synonyms: [weight collected, waste, tonnage]}
dimensions:
  weighed_at: [month, week, day]
--- */
SELECT
  weighings.weighing_id,
  weighings.round_id,
  rounds.district_no,
  rounds.vehicle_id,
  rounds.material,
  weighings.weighed_at,
  weighings.net_kg,
  weighings.is_contaminated
FROM weighings
JOIN rounds ON rounds.round_id = weighings.round_id
