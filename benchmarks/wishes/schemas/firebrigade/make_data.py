"""Makes the data of the fire brigade: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2025, 9, 1)
DAYS = 330
STATIONS: list[tuple[Any, ...]] = [
    ("CEN", "Central", "Old Town", True, 8, date(1931, 10, 4)),
    ("HAR", "Harbour", "Docks", True, 5, date(1958, 6, 1)),
    ("WES", "WEST PARK", "Westend", False, 3, date(1977, 4, 30)),
    ("MIL", "Mill Hill", "Northgate", False, 3, date(1984, 9, 15)),
    ("AIR", "Airfield", "Outer Ring", True, 4, date(2026, 7, 1)),  # no engine and no drill yet
]
ENGINES: list[tuple[Any, ...]] = [
    ("C-1", "CEN", "PMP", "Rosen", date(2019, 3, 4), 412000, 2000, None),
    ("C-2", "CEN", "PMP", "Rosen", date(2011, 5, 20), 348000, 1600, None),
    ("C-3", "CEN", "LAD", "Magnus", date(2016, 8, 1), 695000, None, None),
    ("C-4", "CEN", "RSC", "Zieg", date(2021, 11, 11), 388000, 400, None),
    ("H-1", "HAR", "PMP", "Zieg", date(2014, 2, 2), 361000, 2400, None),
    ("H-2", "HAR", "TNK", "Rosen", date(2009, 7, 7), 280000, 8000, None),
    ("H-3", "HAR", "BOT", "Skiff", date(2018, 4, 18), None, None, None),
    ("W-1", "WES", "PMP", "Magnus", date(2013, 10, 10), 355000, 1800, None),
    ("W-2", "WES", "RSC", "Zieg", date(2001, 1, 30), 190000, 300, date(2026, 2, 28)),
    ("M-1", "MIL", "PMP", "Rosen", date(2017, 12, 1), 399000, 2000, None),
    ("M-9", "MIL", "TNK", "Magnus", date(1996, 6, 6), 150000, 5000, None),  # never goes out
]
NAMES = ["Ada", "Bo", "Chi", "Dan", "Eva", "Fay", "Gus", "Hal", "Ira", "Jo", "Kim", "Leo", "Mae", "Ned", "Ola", "Pat"]
BOROUGHS = ["Old Town", "Docks", "Westend", "Northgate", "Riverside"]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def firefighters(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(64):
        name = f"{chance.choice(NAMES)} {chance.choice(['Abbot', 'Brook', 'Castle', 'Dunn', 'Ewing'])} {n}"
        home = chance.choices(["CEN", "HAR", "WES", "MIL", None], [24, 16, 11, 9, 4])[0]
        rank = chance.choices(["PRO", "FIR", "LEA", "OFF"], [16, 50, 22, 12])[0]
        joined = date(2002, 1, 1) + timedelta(days=chance.randrange(8600))
        joined = date(2025, 2, 1) + timedelta(days=chance.randrange(480)) if rank == "PRO" else joined
        left = date(2025, 10, 1) + timedelta(days=chance.randrange(280)) if chance.random() < 0.12 else None
        left = None if left and left <= joined else left
        fit = None if chance.random() < 0.15 else date(2026, 3, 1) + timedelta(days=chance.randrange(700))
        rows.append((2001 + n, name, home, rank, joined, left, chance.random() < 0.45, fit))
    columns = ["ff_no", "ff_name", "station_code", "position", "joined_on", "left_on", "is_driver", "mask_fit_until"]
    write("firefighters", columns, rows)
    return rows


def calls(chance: random.Random, people: list[tuple[Any, ...]]) -> None:
    incidents: list[tuple[Any, ...]] = []
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        storm = chance.random() < 0.03
        for _ in range(chance.choices([0, 1, 2, 3, 4, 6], [8, 22, 30, 22, 12, 6])[0] + 4 * storm):
            hour = chance.choices(range(24), [2, 2, 1, 1, 1, 1, 2, 4, 5, 5, 5, 6, 6, 6, 6, 6, 7, 8, 8, 7, 6, 5, 4, 3])[
                0
            ]
            called = datetime(day.year, day.month, day.day, hour, chance.randrange(60), chance.randrange(60))
            what = chance.choices(["FIR", "TRA", "FLO", "FAL", "MED", "ANI", None], [24, 18, 8, 26, 14, 7, 3])[0]
            what = "FLO" if storm and chance.random() < 0.6 else what
            where = chance.choices([*BOROUGHS, None], [28, 22, 18, 16, 11, 5])[0]
            how = chance.choices(["PHO", "AUT", "POL", "APP"], [52, 14, 22, 12])[0]
            how = "AUT" if what == "FAL" and chance.random() < 0.7 else how
            level = chance.choices([1, 2, 3], [70, 23, 7])[0] if what in {"FIR", "FLO", "TRA"} else 1
            there: datetime | None = called + timedelta(seconds=int(180 + chance.expovariate(1 / 260)))
            there = None if what == "FAL" and chance.random() < 0.2 else there
            closed: datetime | None = (there or called) + timedelta(
                minutes=int(chance.expovariate(1 / (40 * level))) + 9
            )
            closed = None if n == DAYS - 1 and chance.random() < 0.6 else closed
            saved = chance.choices([0, 1, 2, 5], [72, 19, 6, 3])[0] if what in {"FIR", "TRA", "FLO"} else 0
            damage = round(chance.expovariate(1 / (9000 * level**2)), -2) if what in {"FIR", "TRA", "FLO"} else None
            damage = None if chance.random() < 0.12 else damage
            arson = chance.random() < 0.14 if what == "FIR" and chance.random() < 0.85 else None
            incidents.append((called, there, closed, what, where, how, level, saved, damage, arson))
    incidents.sort(key=lambda one: one[0])
    columns = ["incident_no", "called_at", "on_scene_at", "closed_at", "category", "borough", "reported_by"]
    columns += ["alarm_level", "people_rescued", "damage_eur", "was_arson"]
    numbered = [(50001 + n, *row) for n, row in enumerate(incidents)]
    write("incidents", columns, numbered)
    near = {"Old Town": "C", "Docks": "H", "Westend": "W", "Northgate": "M"}
    leads = [one for one in people if one[3] in {"LEA", "OFF"}]
    rows: list[tuple[Any, ...]] = []
    for one in numbered:
        called = one[1]
        free = [e for e in ENGINES[:10] if e[7] is None or e[7] >= called.date()]
        first = [e for e in free if e[0][0] == near.get(one[5] or "", "C")]
        chosen = chance.sample(first, 1) + chance.sample(free, one[7] - 1 + (chance.random() < 0.25))
        for engine in dict.fromkeys(chosen):
            out = called + timedelta(seconds=chance.randrange(40, 200))
            boss = [p for p in leads if p[4] <= called.date() and (p[5] is None or p[5] >= called.date())]
            who = chance.choice(boss[: 3 + len(boss) // 2])[0] if chance.random() < 0.92 else None
            water = chance.choice([200, 400, 800, 1200, 2400, 6000]) if one[4] == "FIR" else None
            water = None if chance.random() < 0.2 or engine[6] is None else water
            far = None if chance.random() < 0.05 else round(chance.uniform(0.4, 9.5), 1)
            rows.append((one[0], engine[0], who, out, chance.choice([2, 4, 6, 6, 6, 9]), water, far))
    rows.sort(key=lambda one: (one[3], one[0]))
    columns = [
        "turnout_no",
        "incident_no",
        "engine_no",
        "officer_no",
        "rolled_out_at",
        "crew",
        "water_l",
        "distance_km",
    ]
    write("turnouts", columns, [(1 + n, *row) for n, row in enumerate(rows)])


def training(chance: random.Random, people: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        for station in ("CEN", "HAR", "WES", "MIL"):
            if day.weekday() in {1, 3, 5} and chance.random() < (0.5 if station in {"CEN", "HAR"} else 0.3):
                topic = chance.choices(["HOS", "BRE", "LAD", "AID", "CUT"], [32, 26, 14, 16, 12])[0]
                who = chance.choice(people[::3])[0] if chance.random() < 0.85 else None
                hours = chance.choice([1, 1.5, 2, 2, 2.5, 3, 4])
                rows.append((station, day, topic, hours, chance.randrange(4, 19), who, chance.random() < 0.22))
    columns = ["drill_no", "station_code", "held_on", "topic", "hours", "attendees", "leader_no", "is_at_night"]
    write("drills", columns, [(301 + n, *row) for n, row in enumerate(rows)])


def safety(chance: random.Random) -> None:
    buildings: list[tuple[Any, ...]] = []
    for n in range(90):
        use = chance.choices(["SCH", "HOT", "HOS", "SHO", "FAC", "RES"], [16, 14, 5, 25, 18, 22])[0]
        word = {"SCH": "School", "HOT": "Hotel", "HOS": "Clinic", "SHO": "Store", "FAC": "Works", "RES": "House"}[use]
        name = f"{chance.choice(['Amber', 'Birch', 'Cobalt', 'Delta', 'ELM'])} {word} {n}"
        floors = chance.choice([1, 2, 2, 3, 4, 6, 9, 14])
        buildings.append((801 + n, name, use, chance.choice(BOROUGHS), floors, chance.random() < 0.4))
    write("buildings", ["building_id", "building_name", "use", "borough", "storeys", "has_sprinklers"], buildings)
    rows: list[tuple[Any, ...]] = []
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        if day.weekday() > 4:
            continue
        for _ in range(chance.choices([0, 1, 2, 4], [34, 34, 24, 8])[0]):
            building = chance.choice([one for one in buildings[:78] if (one[0], day) not in {row[:2] for row in rows}])
            faults = chance.choices([0, 1, 2, 3, 6, 11], [42, 22, 14, 11, 8, 3])[0]
            who = chance.choices(["Ruth Amsel", "Sol Becker", "Tim Corbin"], [45, 35, 20])[0]
            fee = None if building[2] == "SCH" or chance.random() < 0.04 else chance.choice([9500, 14000, 21000])
            due = day + timedelta(days=chance.choice([14, 30, 60])) if faults else None
            rows.append((building[0], day, who, faults, faults < 3 and chance.random() < 0.95, fee, due))
    columns = [
        "check_no",
        "building_id",
        "checked_on",
        "inspector",
        "defects",
        "has_passed",
        "fee_cents",
        "follow_up_due",
    ]
    write("checks", columns, [(4001 + n, *row) for n, row in enumerate(rows)])


def main() -> None:
    chance = random.Random(1187)
    write("stations", ["station_code", "station_name", "borough", "is_fulltime", "bays", "opened_on"], STATIONS)
    columns = ["engine_no", "station_code", "kind", "make", "bought_on", "price_eur", "tank_litres", "retired_on"]
    write("engines", columns, ENGINES)
    people = firefighters(chance)
    calls(chance, people)
    training(chance, people)
    safety(chance)


if __name__ == "__main__":
    main()
