"""Makes the data of the beekeepers: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
SEASON = date(2025, 3, 15)
SORTS = {"ACA": 9.5, "LIN": 8.5, "CHE": 10.0, "BLO": 7.0}
KEEPERS = ["Ada", "Bruno", "Chiara"]
BUYERS = ["Café Alma", "Hotel Krone", "Fam. Weber", "Bakery Roth", "S. Lang"]


def write(name: str, columns: str, rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns.split())
        writer.writerows(rows)


def text(flag: bool) -> str:
    return "true" if flag else "false"


APIARIES = [
    ("A1", "Oberau", "FOR", 720, 120.0, text(True)),
    ("A2", "Oberau", "MEA", 690, None, text(True)),
    ("A3", "Seeham", "ORC", 510, 80.0, text(False)),
    ("A4", "Linz", "CIT", 266, 200.0, text(False)),
    ("A5", "Moosdorf", "MEA", 445, 60.0, text(True)),
    ("A6", "Hallein", "FOR", 880, None, text(False)),
]


def hives(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(1, 41):
        begin = date(2023, 4, 1) + timedelta(days=chance.randrange(900))
        rows.append(
            (
                n,
                chance.choice(["A1", "A2", "A3", "A4", "A5", None]),
                chance.choice(["DAD", "DAD", "LAN", "WAR"]),
                chance.choice(["Carnica", "Carnica", "Buckfast", None]),
                chance.choice([2023, 2024, 2024, 2025]),
                text(chance.random() < 0.6),
                begin,
                date(2025, 10, 1) + timedelta(days=chance.randrange(150)) if chance.random() < 0.2 else None,
            )
        )
    return rows


def inspections(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(1, 421):
        day = SEASON + timedelta(days=chance.randrange(200) + chance.choice([0, 0, 365]))
        rows.append(
            (
                n,
                chance.randint(1, 37),
                datetime.combine(day, datetime.min.time())
                + timedelta(hours=chance.randint(9, 18), minutes=chance.randrange(60)),
                chance.choice(KEEPERS),
                chance.randint(2, 12),
                chance.choices([1, 2, 3, 4, 5], weights=[6, 5, 3, 2, 1])[0],
                text(chance.random() < 0.7),
                chance.choice([None, 0, 1, 2, 4, 7, 12, 20]),
                chance.choice([None, None, "needs space", "drone brood", "swarm cells"]),
            )
        )
    return rows


def harvests(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(1, 181):
        day = date(chance.choice([2025, 2025, 2026]), 5, 10) + timedelta(days=chance.randrange(100))
        rows.append(
            (
                n,
                chance.randint(1, 33),
                day,
                chance.choice(list(SORTS)),
                round(chance.uniform(2, 19), 1),
                round(chance.uniform(15.5, 20.5), 1),
            )
        )
    return rows


def treatments(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(1, 121):
        agent = chance.choice(["OXA", "OXA", "FRM", "THY"])
        dose = float(chance.choice([20, 30, 35, 50]))
        day = date(2025, 7, 20) + timedelta(days=chance.randrange(160) + chance.choice([0, 365]))
        rows.append((n, chance.randint(3, 38), day, agent, dose, round(dose * chance.uniform(0.05, 0.12), 2)))
    return rows


def jar_sales(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(1, 701):
        sort = chance.choice(list(SORTS))
        grams = chance.choice([250, 500, 500, 1000])
        at = datetime(2025, 6, 1, 8) + timedelta(days=chance.randrange(420), hours=chance.randrange(11))
        rows.append(
            (
                n,
                at + timedelta(minutes=chance.randrange(60)),
                chance.choice(["MKT", "MKT", "SHP", "WEB"]),
                sort,
                grams,
                chance.choice([1, 1, 2, 2, 3, 6, 12]),
                round(SORTS[sort] * grams / 500 * chance.choice([1, 1, 0.9]), 2),
                chance.choice([None, None, None, *BUYERS]),
            )
        )
    return rows


def main() -> None:
    chance = random.Random(77)
    write("apiaries", "apiary_id place landscape altitude_m yearly_rent_eur has_water", APIARIES)
    write("hives", "hive_no apiary_id hive_type queen_line queen_year queen_marked set_up_on lost_on", hives(chance))
    write(
        "inspections",
        "inspection_no hive_no looked_at keeper frames_of_bees mood queen_seen mites_per_day remark",
        inspections(chance),
    )
    write("harvests", "harvest_no hive_no taken_on honey_sort weight_kg water_percent", harvests(chance))
    write("treatments", "treatment_no hive_no given_on agent dose_ml cost_eur", treatments(chance))
    write("jar_sales", "sale_no sold_at outlet honey_sort jar_grams jars jar_price_eur buyer", jar_sales(chance))


if __name__ == "__main__":
    main()
