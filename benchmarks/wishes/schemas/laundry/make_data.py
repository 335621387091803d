"""Makes the data of the laundry: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2026, 2, 2)
DAYS = 131
CLIENTS: list[tuple[Any, ...]] = [
    (1, "Hotel Aurora", "HOT", "Lindau", date(2019, 4, 1), None, 1.65),
    (2, "Grand Meridian", "HOT", "Lindau", date(2021, 1, 1), date(2026, 12, 31), 1.48),
    (3, "Pension Rosa", "HOT", "Wangen", date(2024, 6, 1), None, 1.95),
    (4, "Seeblick Inn", "HOT", "Tettnang", date(2022, 3, 15), date(2026, 5, 31), 1.72),
    (5, "St Vincent Hospital", "MED", "Lindau", date(2015, 1, 1), date(2027, 6, 30), 1.22),
    (6, "Lakeside Clinic", "MED", "Wangen", date(2018, 7, 1), None, 1.35),
    (7, "Childrens Ward South", "MED", "Tettnang", date(2023, 10, 1), date(2026, 9, 30), 1.41),
    (8, "Osteria Nove", "RES", "Lindau", date(2025, 2, 1), None, 2.1),
    (9, "The Copper Pan", "RES", "Wangen", date(2025, 9, 1), None, 2.25),
    (10, "Brasserie Lune", "RES", "Lindau", date(2026, 3, 1), None, 2.05),
    (11, "Thermae Nord", "SPA", "Tettnang", date(2020, 5, 1), date(2026, 7, 31), 1.58),
    (12, "Salt and Steam", "SPA", "Wangen", date(2026, 4, 15), None, 1.8),
    (13, "Kurhaus Alt", "SPA", None, date(2026, 7, 1), None, 1.75),  # begins later
]
SIZES = [95, 140, 32, 60, 210, 120, 75, 24, 18, 21, 88, 47]
MACHINES: list[tuple[Any, ...]] = [
    (1, "Washer Big One", "W", "Kestrel", "A", 120.0, date(2017, 3, 1)),
    (2, "Washer Two", "W", "Kestrel", "A", 80.0, date(2019, 8, 20)),
    (3, "Washer Three", "W", "Lavamark", "A", 60.0, date(2022, 11, 5)),
    (4, "Washer Small", "W", "Lavamark", "B", 30.0, date(2024, 2, 12)),
    (5, "Dryer East", "D", "Kestrel", "B", 100.0, date(2016, 6, 30)),
    (6, "Dryer West", "D", "Hotwind", "B", 90.0, date(2021, 4, 17)),
    (7, "Ironer Long", "I", "Hotwind", "B", 70.0, date(2020, 9, 9)),
    (8, "Ironer Short", "I", "Lavamark", "C", 40.0, date(2025, 1, 27)),
    (9, "Washer Spare", "W", "Kestrel", None, 50.0, date(2009, 5, 2)),  # never runs
]
DRIVERS = ["Jo Berger", "Mehmet Arslan", "Vera Kunz", "Luca Frei"]
OPERATORS = ["Paula", "Zoran", "Kim", "Agnes", "Dede"]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def pickups(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    end = datetime(2026, 6, 13)
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        if day.weekday() == 6:
            continue
        for client, size in zip(CLIENTS, SIZES, strict=False):
            if (
                client[4] > day
                or (client[5] and client[5] < day)
                or chance.random() > (0.5 if client[2] in ("HOT", "MED") else 0.3)
            ):
                continue
            at = datetime(day.year, day.month, day.day, chance.randrange(5, 14), chance.randrange(60))
            weight = round(size * chance.uniform(0.6, 1.5), 1)
            back = at + timedelta(hours=chance.randrange(18, 80), minutes=chance.randrange(60))
            billed = round(weight * client[6], 2) if back < end - timedelta(days=3) and chance.random() < 0.97 else None
            number = None if chance.random() < 0.012 else client[0]
            driver = chance.choices(DRIVERS, [34, 28, 22, 16])[0]
            rows.append((number, at, driver, weight, max(1, round(weight / 12)), back if back < end else None, billed))
    rows.sort(key=lambda one: (one[1], one[3]))
    numbered = [(n + 4001, *one) for n, one in enumerate(rows)]
    columns = ["pickup_no", "client_id", "picked_up_at", "driver", "weight_kg", "bags", "returned_at", "billed_eur"]
    write("pickups", columns, numbered)
    return numbered


def loads(chance: random.Random, fetched: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for number, client, at, _driver, weight, *_ in fetched:
        start = at + timedelta(hours=chance.randrange(1, 7), minutes=chance.randrange(60))
        hot = 70 if client in (5, 6, 7) else 30
        programme = chance.choices(["H90", "M60", "D30"], [hot, 50, 20])[0]
        for machines, weights in (((1, 2, 3, 4), (36, 30, 22, 12)), ((5, 6), (55, 45)), ((7, 8), (60, 40))):
            if machines[0] == 7 and chance.random() < 0.35:
                continue
            machine = chance.choices(machines, weights)[0]
            washes = machines[0] == 1
            part = round(min(weight, MACHINES[machine - 1][5]) * chance.uniform(0.85, 1.0), 1)
            minutes = chance.randrange(35, 75) + (15 if programme == "H90" and washes else 0)
            water = round(part * chance.uniform(6.5, 12.5), 1) if washes else None
            power = round(
                part * (0.35 if washes else 0.7) * chance.uniform(0.8, 1.3) * (1.4 if programme == "H90" else 1), 1
            )
            result = chance.choices(["OK", "RW", "AB"], [88, 9 if washes else 2, 3])[0]
            who = None if chance.random() < 0.04 else chance.choices(OPERATORS, [30, 24, 20, 15, 11])[0]
            rows.append((machine, number, start, programme, part, minutes, water, power, result, who))
            start += timedelta(minutes=minutes + chance.randrange(5, 90))
    rows.sort(key=lambda one: (one[2], one[0], one[1]))
    columns = [
        "machine_id",
        "pickup_no",
        "started_at",
        "programme",
        "weight_kg",
        "minutes",
        "water_l",
        "power_kwh",
        "result",
        "operator",
    ]
    write("loads", ["load_no", *columns], [(n + 50001, *one) for n, one in enumerate(rows)])


def complaints(chance: random.Random, fetched: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    end = datetime(2026, 6, 13)
    for _number, client, _at, _driver, weight, _bags, back, _billed in fetched:
        if client is None or client == 9 or back is None or chance.random() > 0.16:
            continue
        at = back + timedelta(hours=chance.randrange(1, 60), minutes=chance.randrange(60))
        if at >= end:
            continue
        topic = chance.choices(["STN", "LST", "TRN", "LAT"], [38, 26, 14, 22])[0]
        settled = at.date() + timedelta(days=chance.randrange(0, 16))
        open_ = settled > end.date() or chance.random() < 0.08
        credit = round(weight * chance.uniform(0.2, 1.1), 2) if not open_ and chance.random() < 0.6 else None
        rows.append((client, at, topic, None if open_ else settled, credit))
    rows.sort(key=lambda one: (one[1], one[0]))
    columns = ["complaint_no", "client_id", "reported_at", "topic", "settled_on", "credit_eur"]
    write("complaints", columns, [(n + 601, *one) for n, one in enumerate(rows)])


def main() -> None:
    chance = random.Random(90)
    columns = ["client_id", "client_name", "sector", "town", "contract_from", "contract_until", "price_per_kg_eur"]
    write("clients", columns, CLIENTS)
    columns = ["machine_id", "machine_name", "machine_kind", "maker", "hall", "capacity_kg", "bought_on"]
    write("machines", columns, MACHINES)
    fetched = pickups(chance)
    loads(chance, fetched)
    complaints(chance, fetched)


if __name__ == "__main__":
    main()
