"""Makes the data of the meal delivery: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = datetime(2026, 3, 1)
DAYS = 120
KITCHENS = [
    ("BASIL", "Basil & Co", "ITA", "C", 18, date(2024, 2, 1), None),
    ("CURRY", "Curry Corner", "IND", "U", 20, date(2024, 6, 15), None),
    ("FUJI", "Fuji", "SUS", "H", 25, date(2025, 1, 10), None),
    ("GRILL", "Grill 44", "BUR", "C", 22, date(2025, 3, 3), date(2026, 5, 31)),
    ("LEAF", "Green Leaf", "VEG", "U", 15, date(2025, 11, 20), None),
    ("NAPOLI", "Napoli", "ITA", "H", 20, date(2026, 1, 8), None),
    ("SPICE", "Spice Route", "IND", None, 21, date(2026, 4, 6), None),
    ("WOKKA", "Wokka", "SUS", "P", 24, date(2026, 6, 20), None),
]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def people(chance: random.Random) -> None:
    names = [
        "Abel Ito",
        "Bea Cole",
        "Cy Wald",
        "Dina Rau",
        "Emil Fox",
        "Fay Noor",
        "Gus Lind",
        "Hedy Park",
        "Ivo Sand",
        "Jo Beck",
    ]
    rows: list[tuple[Any, ...]] = []
    for n, one in enumerate(names):
        hired = date(2024, 1, 1) + timedelta(days=chance.randrange(780))
        left = date(2026, 5, 1) + timedelta(days=chance.randrange(50)) if n in {2, 6} else None
        rows.append((n + 1, one, chance.choice(["B", "B", "S", "C"]), hired, left))
    write("couriers", ["courier_id", "courier_name", "vehicle", "hired_on", "left_on"], rows)
    rows = []
    for n in range(160):
        first = chance.choice(["Ann", "Ben", "Cat", "Don", "Eli", "Flo"])
        name = f"{first} {chance.choice(['Abt', 'Berg', 'Crow', 'Dorn', 'Ely'])} {n}"
        signed = date(2025, 1, 1) + timedelta(days=chance.randrange(500))
        rows.append((2000 + n, name, chance.choice(["C", "C", "H", "U", "P", None]), signed, chance.random() < 0.25))
    write("customers", ["customer_id", "customer_name", "district", "signed_up_on", "has_pass"], rows)


def order(chance: random.Random, at: datetime) -> tuple[Any, ...]:
    status = chance.choices(["D", "X", "R"], [85, 9, 6])[0]
    collected = chance.random() < 0.12
    minutes = chance.randrange(14, 75)
    return (
        2000 + int(chance.triangular(0, 145, 20)),
        chance.choices([one[0] for one in KITCHENS[:7]], [30, 20, 15, 12, 8, 25, 6])[0],
        None if collected else chance.randrange(1, 10),
        at,
        None if status == "X" else at + timedelta(minutes=minutes),
        status,
        chance.choices(["CRD", "CSH", "WAL"], [50, 20, 30])[0],
        chance.randrange(800, 5200, 10),
        0 if collected else chance.choice([0, 190, 290, 390]),
        chance.choice([None, None, 100, 150, 200, 300]),
        None if collected else chance.randrange(300, 6400),
    )


def orders(chance: random.Random) -> None:
    days = [day for day in range(DAYS) if day not in {20, 57}]
    busy = [3 if (BEGIN + timedelta(days=day)).weekday() >= 4 else 1 for day in days]
    moments = []
    for day in chance.choices(days, busy, k=1500):
        hour = chance.choices([11, 12, 13, 17, 18, 19, 20, 21], [6, 20, 10, 6, 18, 22, 12, 6])[0]
        moments.append(BEGIN + timedelta(days=day, hours=hour, minutes=chance.randrange(60)))
    rows, seen, reviews = [], set(), []
    for n, at in enumerate(sorted(moments)):
        one = order(chance, at)
        rows.append((80001 + n, *one, one[0] not in seen))
        seen.add(one[0])
        if chance.random() < 0.35:
            complaint = chance.choice(["COLD", "LATE", "LATE", "MISS", "WRNG"]) if chance.random() < 0.4 else None
            stars = chance.choice([1, 2, 3]) if complaint else chance.choice([3, 4, 4, 5, 5])
            reviews.append((80001 + n, at + timedelta(minutes=chance.randrange(60, 4000)), stars, complaint))
    columns = [
        "order_id",
        "customer_id",
        "restaurant_code",
        "courier_id",
        "ordered_at",
        "delivered_at",
        "status",
        "payment",
    ]
    write("orders", [*columns, "food_cents", "fee_cents", "tip_cents", "distance_m", "is_first"], rows)
    columns = ["review_id", "order_id", "written_at", "stars", "complaint"]
    write("reviews", columns, [(n + 1, *one) for n, one in enumerate(reviews)])


def main() -> None:
    chance = random.Random(733)
    columns = ["restaurant_code", "restaurant_name", "cuisine", "district", "commission_pct", "joined_on", "left_on"]
    write("restaurants", columns, KITCHENS)
    people(chance)
    orders(chance)


if __name__ == "__main__":
    main()
