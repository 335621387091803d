"""Makes the data of the lift company: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2025, 7, 1)
DAYS = 365
OWNERS = ["Citywohnen", "Hansa Estates", "Klinikverbund", "Nordbau", "Parkside"]
TECHNICIANS = ["Arvid Olsen", "Berit Maas", "Cem Yildiz", "Doro Kunz", "Egon Prill"]
PARTS = [
    ("door roller", "DOR", 14.5),
    ("door belt", "DOR", 62.0),
    ("door motor", "DOR", 410.0),
    ("control board", "ELC", 780.0),
    ("relay", "ELC", 23.9),
    ("call button", "ELC", 36.5),
    ("suspension rope", "ROP", 350.0),
    ("governor rope", "ROP", 145.0),
    ("gear oil", "LUB", 18.2),
]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def buildings(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(36):
        usage = chance.choices(["RES", "OFF", "HOS", "SHP", "HTL"], [44, 24, 8, 12, 12])[0]
        town = chance.choices(["Bremen", "Oldenburg", "VERDEN", "Emden"], [44, 28, 14, 14])[0]
        name = f"{chance.choice(['Linden', 'Ufer', 'Markt', 'Garten'])}strasse {n + 3}"
        rows.append((201 + n, name, town, usage, chance.randrange(3, 22), chance.choice(OWNERS), chance.random() < 0.2))
    return rows


def lifts(chance: random.Random, houses: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for house in houses[:35]:  # one building has no lift any more
        for _ in range(chance.choices([1, 2, 3, 5], [40, 34, 16, 10])[0]):
            maker = chance.choices(["Schandler", "Korne", "Thyra", "OTTIS"], [36, 28, 22, 14])[0]
            kind = chance.choices(["PAS", "GDS", "PLT"], [74, 16, 10])[0]
            drive = chance.choices(["TRC", "HYD"], [72, 28])[0]
            load = {"PAS": [450, 630, 1000, 1275], "GDS": [1000, 2000, 3200], "PLT": [250, 300]}[kind]
            built = date(1978, 1, 1) + timedelta(days=chance.randrange(17000))
            shut = date(2025, 8, 1) + timedelta(days=chance.randrange(320)) if chance.random() < 0.09 else None
            stops = 2 if kind == "PLT" else min(house[4] + 1, chance.randrange(3, 16))
            number = f"L{len(rows) + 1:03d}"
            camera = chance.random() < 0.45
            rows.append((number, house[0], maker, kind, drive, chance.choice(load), stops, built, shut, camera))
    return rows


def contracts(chance: random.Random, houses: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for house in houses[:33]:  # three buildings have no contract
        begins = date(2021, 1, 1) + timedelta(days=31 * chance.randrange(48))
        while True:
            level = chance.choices(["BAS", "CMF", "FUL"], [44, 34, 22])[0]
            fee = round({"BAS": 95, "CMF": 160, "FUL": 290}[level] * chance.uniform(0.8, 1.4), 2)
            hours = chance.choice({"BAS": [8, 24], "CMF": [4, 8], "FUL": [1, 2, 4]}[level])
            ends = begins + timedelta(days=chance.choice([729, 1094, 1459])) if chance.random() < 0.7 else None
            rows.append((house[0], level, begins, ends, fee, hours))
            if ends is None or ends > date(2026, 3, 1):
                break
            begins = ends + timedelta(days=1)
    rows.sort(key=lambda one: one[2])
    return [(4001 + n, *row) for n, row in enumerate(rows)]


def inspections(chance: random.Random, all_lifts: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for lift in all_lifts:
        if chance.random() < 0.07:  # the law does not reach it yet, or it was forgotten
            continue
        due = date(2024, 1, 15) + timedelta(days=chance.randrange(330))
        while due < date(2026, 6, 10):
            done = due + timedelta(days=chance.choice([-21, -12, -6, -3, 0, 2, 9, 30]))
            result = chance.choices(["OK", "MIN", "MAJ", "STP"], [50, 32, 13, 5])[0]
            low, high = {"OK": (0, 0), "MIN": (1, 4), "MAJ": (2, 8), "STP": (4, 11)}[result]
            inspector = chance.choices(["Gerda Lunt", "Hans Moor", "Iris Nolde"], [46, 32, 22])[0]
            fee = round(chance.choice([180, 210, 260]) * (1.4 if lift[3] == "GDS" else 1), 2)
            rows.append((lift[0], inspector, due, done, result, chance.randint(low, high), fee))
            due += timedelta(days=365)
    rows.sort(key=lambda one: (one[3], one[0]))
    return [(60001 + n, *row) for n, row in enumerate(rows)]


def breakdowns(
    chance: random.Random, all_lifts: list[tuple[Any, ...]]
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    rows: list[tuple[Any, ...]] = []
    weights = [chance.expovariate(1) + 0.15 for _ in all_lifts]
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        for _ in range(chance.choices([0, 1, 2, 3, 5], [16, 36, 26, 16, 6])[0]):
            lift = chance.choices(all_lifts, weights)[0]
            call = datetime(day.year, day.month, day.day) + timedelta(seconds=chance.randrange(86400))
            came = call + timedelta(seconds=int(chance.expovariate(1 / 4200)) + 600)
            false = chance.random() < 0.11
            fixed = came + timedelta(seconds=int(chance.expovariate(1 / 9000)) + 300)
            cause = (
                None if false else chance.choices(["DOR", "ELE", "MEC", "VAN", "PWR", None], [38, 24, 14, 12, 8, 4])[0]
            )
            trapped = chance.choices([0, 1, 2, 4], [82, 10, 6, 2])[0] if lift[3] == "PAS" else 0
            who = chance.choices(TECHNICIANS, [28, 24, 20, 16, 12])[0]
            stands = fixed > datetime(2026, 7, 1) or chance.random() < 0.025
            waits = stands and chance.random() < 0.3
            row = (lift[0], call, None if waits else came, None if stands else fixed, cause, trapped)
            rows.append((*row, None if waits else who, false))
    rows.sort(key=lambda one: one[1])
    numbered: list[tuple[Any, ...]] = [(80001 + n, *row) for n, row in enumerate(rows)]
    parts: list[tuple[Any, ...]] = []
    for broken in numbered:
        if broken[8] or broken[4] is None:
            continue
        for part in chance.sample(PARTS, chance.choices([0, 1, 2, 3], [36, 38, 18, 8])[0]):
            price = round(part[2] * chance.uniform(0.9, 1.15), 2)
            parts.append(
                (len(parts) + 1, broken[0], part[0], part[1], chance.choice([1, 1, 2, 4]), price, chance.random() < 0.1)
            )
    return numbered, parts


def main() -> None:
    chance = random.Random(6253)
    houses = buildings(chance)
    write("buildings", ["building_no", "building_name", "town", "usage", "floors", "owner", "is_listed"], houses)
    all_lifts = lifts(chance, houses)
    names = ["lift_no", "building_no", "maker", "kind", "drive", "load_kg", "stops", "installed_on", "shut_down_on"]
    write("lifts", [*names, "has_camera"], all_lifts)
    names = ["contract_no", "building_no", "level", "begins_on", "ends_on", "monthly_fee_eur", "reaction_hours"]
    write("contracts", names, contracts(chance, houses))
    names = ["inspection_no", "lift_no", "inspector", "due_on", "inspected_on", "result", "defects", "fee_eur"]
    write("inspections", names, inspections(chance, all_lifts))
    rows, parts = breakdowns(chance, all_lifts)
    names = ["breakdown_no", "lift_no", "reported_at", "arrived_at", "fixed_at", "cause", "trapped_people"]
    write("breakdowns", [*names, "technician", "is_false_alarm"], rows)
    names = ["usage_no", "breakdown_no", "part_name", "part_group", "pieces", "unit_price_eur", "under_warranty"]
    write("parts_used", names, parts)


if __name__ == "__main__":
    main()
