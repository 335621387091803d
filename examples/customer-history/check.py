"""Compute the revenue of each city and day from the files, event by event, and compare it with the flow's table.

    python check.py

It ends with 1 where a row differs. `streamhouse` must be on the path, or in the folder of this Python.
"""

import csv
import json
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path


def versions() -> dict[int, list[tuple[datetime, str | None]]]:
    """Customer → when which city began, in order; None: the customer was deleted."""
    files = sorted(Path("changes").glob("*.jsonl"))
    events = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    found: dict[int, list[tuple[datetime, str | None]]] = {}
    for event in sorted(events, key=lambda one: one["source"]["ts_us"]):  # of one time the last one in the log counts
        at, row = datetime.fromtimestamp(event["source"]["ts_us"] / 1e6, UTC), event["after"] or event["before"]
        found.setdefault(row["customer_id"], []).append((at, row.get("city")))
    return found


def expected() -> Counter[tuple[str, str, int]]:
    """City, day and cents of each order."""
    history, orders = versions(), Counter[tuple[str, str, int]]()
    for file in Path("orders").glob("*.csv"):
        for order in csv.DictReader(file.open(encoding="utf-8")):
            at = datetime.fromisoformat(order["ordered_at"]).replace(tzinfo=UTC)
            known = history.get(int(order["customer_id"]), [])
            city = next((city for begin, city in reversed(known) if begin <= at), None)
            orders[city or "unknown", str(at.date()), int(order["cents"])] += 1
    return orders


def main() -> int:
    """Compare the sums."""
    sums: dict[tuple[str, str], list[int]] = {}
    for (city, day, cents), count in expected().items():
        known = sums.setdefault((city, day), [0, 0])
        known[0], known[1] = known[0] + count, known[1] + count * cents
    command = Path(sys.executable).with_name("streamhouse")
    query = "SELECT city, day, orders, cents FROM dws.revenue_by_city"
    words = [str(command) if command.exists() else "streamhouse", "query", query, "--json"]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    found = {(row["city"], row["day"]): [row["orders"], row["cents"]] for row in json.loads(done.stdout)["rows"]}
    for key in sorted(sums.keys() | found.keys()):
        if sums.get(key) != found.get(key):
            print(f"{key}: {sums.get(key)} in the files, {found.get(key)} in the flow")
    print(f"revenue_by_city: {len(sums)} rows in the files, {len(found)} in the flow")
    return 0 if sums == found else 1


if __name__ == "__main__":
    sys.exit(main())
