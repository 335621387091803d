"""Compute the warm minutes from the files, and compare them with the flow's table.

    python check.py LIMIT

It ends with 1 where a row differs. `streamhouse` must be on the path, or in the folder of this Python.
"""

import json
import subprocess
import sys
from pathlib import Path

LEAST, MOST = -60, 80  # what a sensor can measure


def expected(limit: float) -> dict[tuple[str, str], float]:
    """Truck and minute → mean of the readings, where it is above the limit."""
    readings = {}
    for file in sorted(Path("readings").glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            readings[one["truck"], one["read_at"]] = one["celsius"]
    minutes: dict[tuple[str, str], list[float]] = {}
    for (truck, read_at), celsius in readings.items():
        if LEAST <= celsius <= MOST:
            minutes.setdefault((truck, read_at[:16]), []).append(celsius)
    means = {key: sum(values) / len(values) for key, values in minutes.items()}
    return {key: mean for key, mean in means.items() if mean > limit}


def main() -> int:
    """Compare them."""
    wanted = {key: round(mean, 6) for key, mean in expected(float(sys.argv[1])).items()}
    command = Path(sys.executable).with_name("streamhouse")
    query = "SELECT truck, date_format(minute, \"yyyy-MM-dd'T'HH:mm\") AS minute, celsius FROM ads.warm_minutes"
    words = [str(command) if command.exists() else "streamhouse", "query", query, "--json"]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    found = {(row["truck"], row["minute"]): round(row["celsius"], 6) for row in json.loads(done.stdout)["rows"]}
    for key in sorted(wanted.keys() ^ found.keys()):
        print(f"{key} is only in the {'files' if key in wanted else 'flow'}")
    print(f"warm_minutes: {len(wanted)} rows in the files, {len(found)} in the flow")
    return 0 if wanted == found else 1


if __name__ == "__main__":
    sys.exit(main())
