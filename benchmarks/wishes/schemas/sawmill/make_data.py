"""Makes the data of the sawmill: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2025, 10, 1)
LAST = datetime(2026, 10, 31, 22, 0)
FORESTS: list[tuple[Any, ...]] = [
    (1, "Blackwater", "North", "STA", 18, True),
    (2, "Priory Wood", "North", "CHU", 42, True),
    (3, "LONG RIDGE", "East", "PRI", 67, False),
    (4, "Fenner Estate", "East", "PRI", 31, True),
    (5, "Low Moor", "South", "MUN", 54, False),
    (6, "Saint Giles", "South", "CHU", 88, None),
    (7, "Upper Glen", "North", "STA", 96, True),
    (8, "Mill Copse", "South", "PRI", 9, False),  # has not sent any load
]
SAWS: list[tuple[Any, ...]] = [
    ("S1", "Big Bertha", "BND", 95, date(2011, 6, 20), 132.0),
    ("S2", "Old Faithful", "CIR", 45, date(1998, 4, 6), 75.0),
    ("S3", "gang line", "GNG", 38, date(2017, 9, 11), 210.5),
    ("S4", "Little Bertha", "BND", 60, date(2021, 2, 1), 90.0),
    ("S5", "Spare Saw", "CIR", 30, date(2003, 8, 18), 37.0),  # has not run
]
HAULIERS = ["Timberline", "Kross Transport", "OWN TRUCK", "R. Doyle"]
CREW = ["Mats", "Greta", "Ossi", "Paula", "Viktor", None]
BUYERS: list[tuple[str, str | None]] = [
    ("Harbour Homes", "Norway"),
    ("Roofworks", "Denmark"),
    ("Pallet Point", "Denmark"),
    ("Heat & Power", "Sweden"),
    ("joinery Lund", "Sweden"),
    ("Casa Legno", "Italy"),
    ("Counter sale", None),
]
MOST_OFF = {"Harbour Homes": 10.0, "Roofworks": 10.0, "Casa Legno": 2.5, "Counter sale": 0.0}  # percent
PRICE = {"BRD": 27500, "BEA": 34000, "PAL": 19000, "CHP": 4200}


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def days(chance: random.Random) -> list[date]:
    every = [BEGIN + timedelta(days=n) for n in range((LAST.date() - BEGIN).days + 1)]
    return [day for day in every if day.weekday() < 6 and chance.random() > 0.06]


def moment(chance: random.Random, day: date, first: int = 6, last: int = 18) -> datetime:
    hour = chance.randrange(first, last)
    return datetime(day.year, day.month, day.day, hour, chance.randrange(60), chance.randrange(60))


def loads(chance: random.Random, open_days: list[date]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for day in open_days:
        for _ in range(chance.choices([0, 1, 2, 4], [14, 38, 32, 16])[0]):
            forest = chance.choices([1, 2, 3, 4, 5, 6, 7, None], [26, 15, 18, 14, 10, 5, 6, 6])[0]
            species = chance.choices(["SPR", "PIN", "LAR", "OAK", "BEE"], [44, 27, 9, 12, 8])[0]
            volume = round(chance.uniform(14, 41), 1)
            damp = None if chance.random() < 0.12 else round(chance.gauss(46, 9), 1)
            why = chance.choices([None, "ROT", "MET", "SIZ", "BUG"], [88, 4, 3, 3, 2])[0]
            paid = (
                None if why or chance.random() < 0.08 else round(volume * {"OAK": 190, "BEE": 130}.get(species, 86), 2)
            )
            rows.append((forest, chance.choice(HAULIERS), moment(chance, day), species, volume, damp, why, paid))
    rows.sort(key=lambda one: one[2])
    return [(6001 + n, *row) for n, row in enumerate(rows)]


def cuts(chance: random.Random, open_days: list[date], wood: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for day in open_days:
        known = [load[0] for load in wood if load[3].date() <= day and not load[7]][-25:]
        for saw in ["S1", "S2", "S3", "S4"]:
            if chance.random() < (0.5 if saw == "S2" else 0.2):
                continue
            at = moment(chance, day, 6, 9)
            for _ in range(chance.choices([1, 2, 3], [40, 38, 22])[0]):
                end: datetime | None = at + timedelta(minutes=chance.randrange(25, 190))
                boards = round(chance.uniform(3, 17) * (1.5 if saw == "S3" else 1), 2)
                waste = round(boards * chance.uniform(0.25, 0.8), 2)
                load = chance.choice(known) if known and chance.random() < 0.9 else None
                shown = None if day > date(2026, 10, 28) and chance.random() < 0.5 else end
                logs = chance.randrange(18, 160)
                rows.append((saw, load, chance.choice(CREW), at, shown, logs, boards, waste, chance.random() < 0.16))
                at = at + timedelta(minutes=chance.randrange(200, 290))
    rows.sort(key=lambda one: one[3])
    names = ["cut_no", "saw_id", "load_no", "operator", "began_at", "ended_at", "logs", "boards_m3", "waste_m3"]
    write("cuts", [*names, "new_blade"], [(10001 + n, *row) for n, row in enumerate(rows)])


def stoppages(chance: random.Random, open_days: list[date]) -> None:
    rows: list[tuple[Any, ...]] = []
    for day in open_days:
        for _ in range(chance.choices([0, 1, 2], [42, 40, 18])[0]):
            saw = chance.choices(["S1", "S2", "S3", "S4"], [22, 38, 27, 13])[0]
            at = moment(chance, day, 6, 20)
            cause = chance.choices(["BLD", "JAM", "POW", "SEN", "CLN", None], [26, 31, 8, 14, 15, 6])[0]
            minutes = int(chance.expovariate(1 / 48)) + 3
            end: datetime | None = at + timedelta(minutes=minutes)
            cost = None if chance.random() < 0.4 else chance.randrange(1500, 98000)
            rows.append((saw, at, end, cause, chance.choice(CREW), chance.random() < 0.21, cost))
    rows.sort(key=lambda one: one[1])
    for saw in ["S2", "S3"]:  # stand still
        last = max(place for place, row in enumerate(rows) if row[0] == saw)
        rows[last] = (*rows[last][:2], None, *rows[last][3:])
    names = [
        "stop_no",
        "saw_id",
        "stopped_at",
        "running_again_at",
        "cause",
        "reported_by",
        "fitter_called",
        "repair_cents",
    ]
    write("stoppages", names, [(301 + n, *row) for n, row in enumerate(rows)])


def sales(chance: random.Random, open_days: list[date]) -> None:
    rows: list[tuple[Any, ...]] = []
    for day in open_days:
        for _ in range(chance.choices([0, 1, 2, 4], [16, 36, 32, 16])[0]):
            buyer, country = chance.choices(BUYERS, [20, 18, 14, 12, 14, 8, 14])[0]
            product = chance.choices(["BRD", "BEA", "PAL", "CHP"], [40, 24, 18, 18])[0]
            volume = round(chance.uniform(1.5, 46), 1)
            off = chance.choices([None, 2.5, 5.0, 10.0], [68, 16, 11, 5])[0]
            off = None if off and off > MOST_OFF.get(buyer, 5.0) else off
            price = round(volume * PRICE[product] * (1 - (off or 0) / 100))
            gone = day + timedelta(days=int(chance.expovariate(1 / 8)) + (0 if country is None else 1))
            paid = day + timedelta(days=int(chance.expovariate(1 / 24)))
            far = LAST.date()
            rows.append(
                (
                    buyer,
                    country,
                    day,
                    product,
                    volume,
                    price,
                    off,
                    gone if gone <= far else None,
                    paid if paid <= far and chance.random() < 0.94 else None,
                )
            )
    names = [
        "sale_no",
        "buyer",
        "country",
        "sold_on",
        "product",
        "volume_m3",
        "price_cents",
        "discount_pct",
        "delivered_on",
        "paid_on",
    ]
    write("sales", names, [(90001 + n, *row) for n, row in enumerate(rows)])


def main() -> None:
    chance = random.Random(34202)
    write("forests", ["forest_id", "forest_name", "region", "owner_kind", "distance_km", "certified"], FORESTS)
    write("saws", ["saw_id", "saw_name", "saw_type", "max_diameter_cm", "installed_on", "power_kw"], SAWS)
    open_days = days(chance)
    wood = loads(chance, open_days)
    names = [
        "load_no",
        "forest_id",
        "haulier",
        "arrived_at",
        "species",
        "volume_m3",
        "moisture_pct",
        "reject_reason",
        "paid_eur",
    ]
    write("loads", names, wood)
    cuts(chance, open_days, wood)
    stoppages(chance, open_days)
    sales(chance, open_days)


if __name__ == "__main__":
    main()
