/* ---
action: q3_local_items
version: 1.0.0
step: clean                         # ods → dwd
description: Nexmark q3. Who sells in Oregon, Idaho or California in category 10, and which auctions. The seller stands in the key, for a person who changes touches the auctions of that person.
inputs:
  auction: {id: bigint, seller: bigint, category: bigint}
  person: {id: bigint, name: string, city: string, state: string}
output: {primary_key: [id, seller]}
--- */
SELECT p.name, p.city, p.state, a.id, a.seller
FROM auction AS a
JOIN person AS p ON p.id = a.seller
WHERE a.category = 10 AND p.state IN ('OR', 'ID', 'CA')
