"""Makes the data of the internet provider: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = datetime(2026, 2, 2)
DAYS = 90
AREAS = [
    ("A1", "Lakeside", "F", 4200),
    ("A2", "Upper Town", "C", 6100),
    ("B1", "West Park", "D", 2500),
    ("B2", "Quarry Hill", "F", None),
    ("C1", "Outer Ring", "D", 900),
]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def moment(chance: random.Random) -> datetime:
    return BEGIN + timedelta(days=chance.randrange(DAYS), minutes=chance.randrange(24 * 60))


def subscribers(chance: random.Random) -> None:
    rows = []
    for n in range(220):
        joined = date(2021, 1, 1) + timedelta(days=chance.randrange(1900))
        left = joined + timedelta(days=chance.randrange(90, 900)) if chance.random() < 0.2 else None
        plan = chance.choices(["B", "P", "X"], [50, 35, 15])[0]
        rows.append((9001 + n, f"Household {n + 1:03}", chance.choice(AREAS[:4])[0], plan, joined, left))
    write("subscribers", ["subscriber_no", "subscriber_name", "area_code", "plan", "joined_on", "left_on"], rows)


def sessions(chance: random.Random) -> None:
    rows = []
    for _ in range(1800):
        began = moment(chance)
        ended = None if chance.random() < 0.02 else began + timedelta(minutes=chance.randrange(3, 400))
        device = chance.choices(["PHN", "LAP", "TV"], [45, 30, 25])[0]
        rows.append((9001 + chance.randrange(190), began, ended, device, chance.randrange(5, 9000)))
    rows.sort(key=lambda one: (one[1], one[0]))
    columns = ["session_id", "subscriber_no", "began_at", "ended_at", "device", "mb_down"]
    write("sessions", columns, [(n + 1, *one) for n, one in enumerate(rows)])


def outages(chance: random.Random) -> None:
    rows = []
    for _ in range(75):
        began = moment(chance)
        ended = None if chance.random() < 0.05 else began + timedelta(minutes=chance.randrange(10, 900))
        cause = chance.choices(["PWR", "CUT", "UPD", None], [35, 25, 30, 10])[0]
        rows.append((chance.choice(AREAS[:4])[0], began, ended, cause, chance.randrange(3, 1500)))
    rows.sort(key=lambda one: (one[1], one[0]))
    columns = ["outage_id", "area_code", "began_at", "ended_at", "cause", "lines_hit"]
    write("outages", columns, [(n + 1, *one) for n, one in enumerate(rows)])


def calls(chance: random.Random) -> None:
    rows = []
    for _ in range(620):
        topic = chance.choices(["SPD", "BIL", "CAN", "OTH"], [40, 30, 10, 20])[0]
        stars = None if chance.random() < 0.6 else chance.randrange(1, 6)
        caller = 9001 + chance.randrange(170)
        rows.append((caller, moment(chance), chance.randrange(1, 1500), topic, chance.random() < 0.7, stars))
    rows.sort(key=lambda one: (one[1], one[0]))
    columns = ["call_id", "subscriber_no", "rang_at", "wait_s", "topic", "is_solved", "stars"]
    write("calls", columns, [(n + 1, *one) for n, one in enumerate(rows)])


def main() -> None:
    chance = random.Random(53)
    write("areas", ["area_code", "area_name", "technology", "lines"], AREAS)
    subscribers(chance)
    sessions(chance)
    outages(chance)
    calls(chance)


if __name__ == "__main__":
    main()
