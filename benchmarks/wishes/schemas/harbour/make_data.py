"""Makes the data of the yacht harbour: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2026, 3, 1)
DAYS = 122
PIERS: list[tuple[Any, ...]] = [
    ("A", "Anchor Pier", "N", 1988, True),
    ("B", "Beacon Pier", "N", 1994, True),
    ("C", "Compass Pier", "S", 2007, True),
    ("D", "Dolphin Pier", "S", 2019, True),
    ("G", "Guest Pier", None, 1975, False),
    ("X", "Yard Pier", "S", 1969, False),
]
SHUT = {date(2026, 3, 9), date(2026, 3, 10), date(2026, 4, 21), date(2026, 5, 17)}  # storm: nobody came or went


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def people_and_boats(chance: random.Random) -> list[tuple[Any, ...]]:
    people = []
    for n in range(90):
        name = f"{chance.choice(['Ada', 'Björn', 'Carl', 'Dina', 'Elke'])} {chance.choice(['Voss', 'Winter'])} {n}"
        country = chance.choices(["Germany", "Denmark", "Sweden", "The Netherlands", None], [45, 25, 15, 10, 5])[0]
        joined = date(2009, 4, 1) + timedelta(days=chance.randrange(6100)) if chance.random() < 0.4 else None
        people.append((500 + n, name, country, joined is not None, joined))
    write("owners", ["owner_id", "owner_name", "country", "is_club_member", "joined_on"], people)
    boats = []
    for n in range(120):
        kind = chance.choices(["S", "M", "C", "F"], [55, 28, 9, 8])[0]
        name = f"{chance.choice(['Sea', 'Wind', 'Wave', 'Star', 'Gull'])} {chance.choice(['Rose', 'Lady', 'Song'])} {n}"
        length = round(chance.uniform(5.5, 18), 1)
        draught = None if chance.random() < 0.06 else round(length * chance.uniform(0.1, 0.19), 1)
        insured = None if chance.random() < 0.1 else date(2026, 1, 31) + timedelta(days=30 * chance.randrange(14))
        owner = None if chance.random() < 0.05 else 500 + min(int(chance.expovariate(0.03)), 84)
        built = chance.choice([1975, 1988, 1999, 2006, 2015, 2022, None])
        boats.append((1000 + n, name, kind, length, draught, built, owner, insured))
    columns = ["boat_id", "boat_name", "kind", "length_m", "draught_m", "built_in", "owner_id", "insured_until"]
    write("boats", columns, boats)
    return boats


def visits(chance: random.Random, berths: list[tuple[Any, ...]], boats: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        if day in SHUT:
            continue
        for _ in range(chance.randrange(2, 6 + n // 12)):
            berth = chance.choices(berths, [1 if one[1] in "AB" else 2 if one[1] == "C" else 4 for one in berths])[0]
            boat = None if chance.random() < 0.02 else chance.choice(boats[:112])
            came = datetime(day.year, day.month, day.day, chance.randrange(7, 22), chance.randrange(60))
            nights = chance.choices([1, 2, 3, 5, 8, 14], [40, 25, 15, 10, 6, 4])[0]
            left = came + timedelta(days=nights, hours=chance.randrange(-6, 3))
            status = chance.choices(["D", "X", "N"], [88, 8, 4])[0]
            if status == "D" and left.date() > date(2026, 6, 30):
                status = "H"
            persons = None if chance.random() < 0.05 else chance.randrange(1, 8)
            fee = None if status in "XN" else nights * round(150 * (boat[3] if boat else 9)) + 250
            channel = chance.choices(["APP", "TEL", "WALK", "RAD"], [40, 20, 30, 10])[0]
            rows.append((boat[0] if boat else None, berth[0], came, left if status == "D" else None, persons, fee))
            rows[-1] += (status, channel)
    rows.sort(key=lambda one: (one[2], one[1], one[5] or 0))
    columns = ["boat_id", "berth_no", "arrived_at", "departed_at", "persons", "fee_cents", "status", "booked_by"]
    write("visits", ["visit_id", *columns], [(n + 8001, *one) for n, one in enumerate(rows)])


def fuel(chance: random.Random, boats: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        if day in SHUT or day.weekday() == 1:
            continue  # the pump is shut on Tuesdays
        for _ in range(chance.randrange(1, 12)):
            at = datetime(day.year, day.month, day.day, chance.randrange(8, 20), chance.randrange(60))
            sort = chance.choices(["D", "P"], [70, 30])[0]
            litres = round(chance.lognormvariate(4, 0.6), 1)
            price = {"D": 168, "P": 189}[sort] + n // 20
            boat = None if chance.random() < 0.2 else chance.choice(boats[:100])[0]
            rows.append((boat, at, sort, litres, round(litres * price), chance.choice(["CARD", "CARD", "CASH"])))
    rows.sort(key=lambda one: (one[1], one[3]))
    columns = ["sale_id", "boat_id", "sold_at", "fuel", "litres", "amount_cents", "payment"]
    write("fuel_sales", columns, [(n + 1, *one) for n, one in enumerate(rows)])


def incidents(chance: random.Random, boats: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for _ in range(130):
        day = BEGIN + timedelta(days=chance.randrange(DAYS))
        at = datetime(day.year, day.month, day.day, chance.randrange(24), chance.randrange(60))
        kind = chance.choices(["COLL", "THEFT", "SPILL", "POWER", "NOISE"], [25, 15, 12, 20, 28])[0]
        done = at + timedelta(hours=chance.randrange(1, 300)) if chance.random() < 0.85 else None
        cost = chance.choice([80, 250, 250, 900, 4000, None]) if kind in {"COLL", "THEFT", "SPILL"} else None
        pier = None if chance.random() < 0.04 else chance.choice(PIERS[:5])[0]
        boat = chance.choice(boats[:90])[0] if kind in {"COLL", "NOISE"} and chance.random() < 0.8 else None
        rows.append((pier, boat, at, kind, chance.choices([1, 2, 3], [60, 30, 10])[0], done, cost))
    rows.sort(key=lambda one: (one[2], one[3]))
    columns = ["incident_id", "pier_code", "boat_id", "reported_at", "kind", "severity", "closed_at", "damage_eur"]
    write("incidents", columns, [(n + 1, *one) for n, one in enumerate(rows)])


def main() -> None:
    chance = random.Random(5005)
    write("piers", ["pier_code", "pier_name", "side", "built_in", "has_power"], PIERS)
    berths = []
    for code, *_ in PIERS[:5]:
        for n in range(1, {"A": 12, "B": 12, "C": 10, "D": 10, "G": 16}[code] + 1):
            length = chance.choice([8, 8, 10, 10, 12, 15, 18])
            depth = None if chance.random() < 0.05 else round(chance.uniform(1.4, 4.2), 1)
            fee = None if code == "G" else length * chance.choice([110, 120, 135])
            berths.append((f"{code}{n:02}", code, length, depth, fee, chance.random() < 0.08))
    write("berths", ["berth_no", "pier_code", "length_m", "depth_m", "yearly_fee_eur", "is_closed"], berths)
    boats = people_and_boats(chance)
    visits(chance, berths, boats)
    fuel(chance, boats)
    incidents(chance, boats)


if __name__ == "__main__":
    main()
