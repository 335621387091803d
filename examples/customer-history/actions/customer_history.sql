/* ---
action: customer_history
version: 1.0.0
step: clean
description: "The history of each key, with the time from which and until which each version is valid."
inputs: {"rows": {"customer_id": "int not null", "name": "string", "city": "string", "op": "string", "committed_at": "timestamp not null", "change": "bigint not null"}}
output: {"primary_key": ["customer_id", "valid_from"]}
examples:
  - given:
      rows:
        - {"customer_id": 1, "name": "c", "city": "c", "op": "u", "committed_at": "2026-01-01 12:00:00", "change": 3}
        - {"customer_id": 1, "name": "a", "city": "a", "op": "u", "committed_at": "2026-01-01 10:00:00", "change": 1}
        - {"customer_id": 1, "name": "b", "city": "b", "op": "u", "committed_at": "2026-01-01 10:20:00", "change": 2}
        - {"customer_id": 1, "name": "c", "city": "c", "op": "d", "committed_at": "2026-01-01 13:00:00", "change": 3}
        - {"customer_id": 1, "name": "b", "city": "b", "op": "u", "committed_at": "2026-01-01 10:20:00", "change": 2}
    expect:
      - {"customer_id": 1, "name": "a", "city": "a", "valid_from": "2026-01-01 10:00:00", "valid_to": "2026-01-01 10:20:00", "is_current": false}
      - {"customer_id": 1, "name": "b", "city": "b", "valid_from": "2026-01-01 10:20:00", "valid_to": "2026-01-01 12:00:00", "is_current": false}
      - {"customer_id": 1, "name": "c", "city": "c", "valid_from": "2026-01-01 12:00:00", "valid_to": "2026-01-01 13:00:00", "is_current": false}
--- */
SELECT
  customer_id,
  name,
  city,
  committed_at AS valid_from,
  valid_to,
  valid_to IS NULL AS is_current
FROM (
  SELECT
    customer_id,
    name,
    city,
    committed_at,
    change,
    op,
    LEAD(committed_at) OVER (PARTITION BY customer_id ORDER BY committed_at, change, op <=> 'd', name, city) AS valid_to
  FROM (
    SELECT
      customer_id,
      name,
      city,
      committed_at,
      change,
      op,
      STRUCT(name, city, op <=> 'd') <=> LAG(STRUCT(name, city, op <=> 'd')) OVER (PARTITION BY customer_id ORDER BY committed_at, change, op <=> 'd', name, city) AS same
    FROM (
      SELECT
        customer_id,
        name,
        city,
        committed_at,
        change,
        op,
        ROW_NUMBER() OVER (PARTITION BY customer_id, committed_at ORDER BY change DESC, op <=> 'd' DESC, name DESC, city DESC) AS place
      FROM rows
    ) AS changes
    WHERE place = 1
  ) AS versions
  WHERE NOT same
) AS history
WHERE NOT op <=> 'd'
