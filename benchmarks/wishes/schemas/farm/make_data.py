"""Makes the data of the farm co-operative: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = datetime(2025, 3, 3)
DAYS = 210
QUIET = range(118, 122)  # days on which the cold store was closed
VALLEYS = ["Low Moor", "UPPER GLEN", "Ash Hollow", "St. Brannoc"]
PRODUCTS = [
    ("CAR", "Carrots", "V", 45, 55),
    ("POT", "Potatoes", "V", 120, 38),
    ("TOM", "Tomatoes", "V", 9, 140),
    ("LET", "Lettuce", "V", 5, 120),
    ("ONI", "Onions", "V", 150, 50),
    ("APP", "Apples", "F", 90, 95),
    ("PEA", "Pears", "F", 40, 110),
    ("STR", "Strawberries", "F", 3, 420),
    ("PLU", "Plums", "F", 12, 160),
    ("WHE", "Wheat", "C", None, 24),
    ("BAR", "BARLEY", "C", None, 21),
    ("MIL", "Raw milk", "D", 2, 48),
    ("CHE", "Goat cheese", "D", 30, 1450),
    ("HON", "Honey", "O", 720, 890),
]
BUSY = [12, 14, 9, 8, 7, 8, 5, 8, 3, 6, 4, 12, 2, 0]  # how often farms bring each product


def write(name: str, columns: str, rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns.split())
        writer.writerows(rows)


def members(chance: random.Random) -> None:
    products = [(*one[:4], one[0] in {"STR", "LET", "MIL"}) for one in PRODUCTS]
    write("products", "product_code product_name family shelf_days needs_cooling", products)

    first = ["Agnes", "Bert", "Clara", "Dov", "Edda", "Frank", "Gwen", "Hal", "Isa", "Jory", "Kerra"]
    names = ["Hill", "Brook", "Oak", "Stone", "Fox", "Mill", "Crow"]
    farms: list[tuple[Any, ...]] = []
    fields: list[tuple[Any, ...]] = []
    for n in range(1, 45):
        joined = date(2003, 1, 1) + timedelta(days=chance.randrange(8000))
        left = date(2025, 4, 1) + timedelta(days=chance.randrange(150)) if n % 12 == 0 else None
        size = round(chance.triangular(4, 130, 22), 1)
        valley = None if n % 19 == 0 else chance.choice(VALLEYS)
        name = f"{names[n % 7]} {['Farm', 'Acres', 'End'][n // 7 % 3]}"
        farmer = f"{first[n % 11]} {'PQRSTW'[n // 5 % 6]}."
        farms.append((f"F{n:03}", name, farmer, valley, size, chance.random() < 0.35, joined, left))
        for _ in range(chance.choice([1, 2, 2, 3, 4])):
            crop = chance.choices([one[0] for one in PRODUCTS[:11]] + [None], [10] * 11 + [12])[0]
            sown = None if crop is None else date(2025, 2, 10) + timedelta(days=chance.randrange(90))
            soil = chance.choices(["L", "S", "C", "P"], [40, 28, 22, 10])[0]
            part = round(size * chance.choice([0.1, 0.2, 0.25, 0.4]), 2)
            fields.append((len(fields) + 1, f"F{n:03}", crop, part, soil, chance.random() < 0.4, sown))
    columns = "farm_no farm_name farmer valley hectares is_organic joined_on left_on"
    write("farms", columns, farms)
    write("fields", "field_id farm_no product_code hectares soil is_irrigated sown_on", fields)

    buyers = []
    endings = {"S": "Market", "R": "Bistro", "W": "Trading", "C": "Canteen"}
    for n in range(1, 37):
        kind = chance.choices(["S", "R", "W", "C"], [22, 40, 18, 20])[0]
        town = chance.choice(["Carrow", "Port Ellis", "Dunmere", "HARBOUR END"])
        days = None if n % 10 == 0 else chance.choice([7, 14, 14, 30, 60])
        since = date(2015, 1, 1) + timedelta(days=chance.randrange(3600))
        stem = ["Blue", "Corner", "Anchor", "Green", "King's", "Old Town"][n % 6]
        buyers.append((900 + n, f"{stem} {endings[kind]} {n}", kind, town, days, since))
    write("buyers", "buyer_id buyer_name kind town payment_days customer_since", buyers)


def trade(chance: random.Random) -> None:
    codes, worth = [one[0] for one in PRODUCTS], {one[0]: one[4] for one in PRODUCTS}
    intakes, orders = [], []
    for day in range(DAYS):
        at = BEGIN + timedelta(days=day)
        if day in QUIET or at.weekday() == 6:
            continue
        for _ in range(chance.randrange(3, 12)):
            code = chance.choices(codes, BUSY)[0]
            farm = min(int(chance.paretovariate(0.6)), 46)
            grade = chance.choices(["A", "B", "C", "X"], [58, 26, 10, 6])[0]
            kg = None if chance.random() < 0.02 else chance.choice([40, 85, 120, 120, 250, 400, 650, 1200])
            rate = {"A": 100, "B": 85, "C": 60, "X": 0}[grade]
            pay = (kg or 100) * worth[code] * rate // 100
            came = at + timedelta(minutes=int(chance.triangular(5 * 60, 19 * 60, 7 * 60)))
            sugar = round(chance.uniform(6.5, 15), 1) if code in {"APP", "PEA", "STR", "PLU"} else None
            intakes.append((f"F{farm:03}", code, came, kg, grade, pay, sugar, chance.choice(["N", "N", "S", "E"])))
        for _ in range(chance.randrange(2, 8)):
            code = chance.choices(codes, [one + 1 for one in BUSY])[0]
            buyer = 900 + min(int(chance.paretovariate(0.55)), 38)
            ordered = at + timedelta(minutes=chance.randrange(6 * 60, 18 * 60))
            ship_by = ordered.date() + timedelta(days=chance.choice([1, 2, 2, 3, 5]))
            status = chance.choices(["S", "N", "X"], [86 if day < 195 else 40, 3 if day < 195 else 50, 9])[0]
            shipped = ordered + timedelta(hours=chance.randrange(4, 100)) if status == "S" else None
            kg = chance.choice([10, 20, 20, 50, 80, 150, 300, 500])
            price = kg * worth[code] * chance.choice([135, 150, 160, 180]) // 100
            route = chance.choices(["PHN", "WEB", "REP"], [35, 45, 20])[0]
            orders.append((buyer, code, ordered, ship_by, shipped, kg, price, status, route))
    intakes.sort(key=lambda one: one[2])
    columns = "intake_id farm_no product_code received_at kg grade pay_cents sugar station"
    write("intakes", columns, [(n + 1, *one) for n, one in enumerate(intakes)])
    orders.sort(key=lambda one: one[2])
    columns = "order_id buyer_id product_code ordered_at ship_by shipped_at kg price_cents status route"
    write("orders", columns, [(4000 + n, *one) for n, one in enumerate(orders)])


def machines(chance: random.Random) -> None:
    hires = []
    for _ in range(230):
        begin = BEGIN + timedelta(days=chance.randrange(DAYS), hours=chance.randrange(6, 17))
        end = None if chance.random() < 0.05 else begin + timedelta(hours=chance.choice([3, 5, 8, 8, 26, 50]))
        machine = chance.choices(["TRAC", "HARV", "SPRY", "BALE", "TRAIL"], [34, 16, 18, 14, 18])[0]
        fee = {"TRAC": 1800, "HARV": 6400, "SPRY": 1100, "BALE": 2500, "TRAIL": 600}[machine] * chance.choice([3, 5, 8])
        farm = min(int(chance.paretovariate(0.5)), 44)
        fuel = None if chance.random() < 0.1 else round(chance.uniform(4, 140), 1)
        hires.append((f"F{farm:03}", machine, begin, end, fee, fuel, chance.random() < 0.08))
    hires.sort(key=lambda one: one[2])
    columns = "hire_id farm_no machine taken_at returned_at fee_cents fuel_litres was_damaged"
    write("hires", columns, [(n + 1, *one) for n, one in enumerate(hires)])


def main() -> None:
    chance = random.Random(71)
    members(chance)
    trade(chance)
    machines(chance)


if __name__ == "__main__":
    main()
