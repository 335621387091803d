/* ---
action: q8_new_users
version: 1.0.0
step: clean                         # ods → dwd
description: Nexmark q8. People who came and put up an auction within the same ten seconds.
inputs:
  person: {id: bigint, name: string, dateTime: timestamp}
  auction: {seller: bigint, dateTime: timestamp}
output: {primary_key: [id, starttime], event_time: starttime}
--- */
SELECT p.id, p.name, p.starttime
FROM (SELECT id, name, WINDOW(dateTime, '10 seconds').start AS starttime FROM person) AS p
JOIN (SELECT DISTINCT seller, WINDOW(dateTime, '10 seconds').start AS starttime FROM auction) AS a
  ON a.seller = p.id AND a.starttime = p.starttime
