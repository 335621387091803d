"""Makes the data of the caterer: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2025, 11, 1)
LAST = date(2026, 10, 31)
MENUS: list[tuple[Any, ...]] = [
    (1, "Harvest Table", "BUF", 34.5, False, None),
    (2, "Seven Courses", "PLT", 89.0, False, None),
    (3, "green garden", "BUF", 31.0, True, None),
    (4, "BBQ Classic", "GRL", 27.5, False, None),
    (5, "Finger Food", "CAN", 19.0, False, None),
    (6, "Vegan Bites", "CAN", 22.0, True, None),
    (7, "Sunday Roast", "PLT", 42.0, False, date(2026, 3, 31)),
    (8, "Chef's Surprise", "PLT", 120.0, None, None),  # has not been ordered
]
NAMES = ["Acme Tools", "Bell & Co", "City Hall", "DORN FAMILY", "Elm School", "Fair Trust", "Gil Moreno", "Hart Bank"]
NAMES += [
    "Iris Vane",
    "Jacobs GmbH",
    "Kite Media",
    "Lund Family",
    "Maple Clinic",
    "Nora Stein",
    "Opera House",
    "P. Roux",
]
SUPPLIERS = ["Green Farm", "Sea Direct", "METRO", "Butcher Kahl", "Wine Cellar"]
TEAM = ["Ali", "Bea", "Carlo", "Dina", "Egon", "Faye", "Gus", "Hana", "Igor", "Jule", "Kim", "Lars"]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def bookings(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range((LAST - BEGIN).days):
        day = BEGIN + timedelta(days=n)
        for _ in range(chance.choices([0, 1, 2, 3], [30, 35, 22, 13])[0]):
            served = datetime(day.year, day.month, day.day, chance.randrange(11, 21), chance.choice([0, 15, 30, 45]))
            menu = chance.choices([1, 2, 3, 4, 5, 6, 7, None], [20, 9, 12, 18, 18, 9, 8, 6])[0]
            guests = chance.randrange(12, 240)
            price = MENUS[menu - 1][3] if menu else 25.0
            status = chance.choices(["DON", "CAN", "CNF"], [80, 13, 7])[0]
            occasion = chance.choices(["WED", "BIR", "FUN", "CON", "XMS", None], [22, 24, 10, 28, 10, 6])[0]
            venue = chance.choice(["Old Barn", "river terrace", "Town Hall", "client's house", "Glass House", None])
            total = int(guests * price * 100 * chance.uniform(0.9, 1.3))
            deposit = None if chance.random() < 0.3 else total // 5
            booked = day - timedelta(days=chance.randrange(4, 200))
            client = chance.randrange(1, 16)  # the sixteenth has not booked
            rows.append((client, menu, occasion, venue, booked, served, guests, status, deposit, total))
    return [(4001 + n, *row) for n, row in enumerate(rows)]


def duties(chance: random.Random, events: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for event in events:
        if event[8] == "CAN":
            continue
        for person in chance.sample(range(1, 12), 2 + event[7] // 90):  # the twelfth has not worked yet
            begin = event[6] - timedelta(minutes=chance.randrange(60, 240, 15))
            end = None if chance.random() < 0.02 else event[6] + timedelta(minutes=chance.randrange(90, 420, 15))
            tips = None if chance.random() < 0.5 else chance.randrange(200, 6000, 50)
            rows.append((event[0], person, begin, end, tips))
    columns = ["duty_no", "booking_no", "person_id", "began_at", "ended_at", "tips_cents"]
    write("duties", columns, [(9001 + n, *row) for n, row in enumerate(rows)])


def breakages(chance: random.Random, events: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for event in events:
        if event[8] != "DON" or chance.random() > 0.45:
            continue
        item = chance.choices(["GLS", "PLA", "CUP", "LIN"], [50, 28, 14, 8])[0]
        pieces = chance.randrange(1, 15)
        cost = None if chance.random() < 0.08 else pieces * {"GLS": 240, "PLA": 610, "CUP": 380, "LIN": 1900}[item]
        rows.append((event[0], event[6].date(), item, pieces, cost, chance.choice([True, False, None])))
    columns = ["breakage_no", "booking_no", "noted_on", "item", "pieces", "cost_cents", "charged"]
    write("breakages", columns, [(701 + n, *row) for n, row in enumerate(rows)])


def ratings(chance: random.Random, events: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for event in events:
        if event[8] != "DON" or chance.random() > 0.55:
            continue
        stars = chance.choices([1, 2, 3, 4, 5], [4, 8, 18, 38, 32])[0]
        waited = chance.choice(["EML", "PHO", "WEB"])
        answered = event[6].date() + timedelta(days=chance.randrange(3, 30)) if chance.random() < 0.6 else None
        rows.append((event[0], event[6].date() + timedelta(days=chance.randrange(1, 15)), stars, waited, answered))
    columns = ["rating_no", "booking_no", "given_on", "stars", "came_by", "answered_on"]
    write("ratings", columns, [(301 + n, *row) for n, row in enumerate(rows)])


def purchases(chance: random.Random) -> None:
    rows: list[tuple[Any, ...]] = []
    for n in range((LAST - BEGIN).days):
        day = BEGIN + timedelta(days=n)
        for _ in range(chance.choices([0, 1, 2], [20, 45, 35])[0]):
            goods = chance.choices(["MEA", "FSH", "VEG", "DRY", "DRI"], [22, 14, 34, 12, 18])[0]
            weight = None if goods == "DRI" else round(chance.uniform(4, 90), 1)
            cost = round((weight or 40) * chance.uniform(2, 18), 2)
            who = chance.choice(SUPPLIERS)
            rows.append((who, day, goods, weight, cost, chance.random() < 0.05, chance.random() < 0.35))
    columns = ["purchase_no", "supplier", "bought_on", "goods", "weight_kg", "cost_eur", "sent_back", "organic"]
    write("purchases", columns, [(11001 + n, *row) for n, row in enumerate(rows)])


def main() -> None:
    chance = random.Random(352)
    clients = [
        (
            n + 1,
            name,
            chance.choice(["CMP", "PRV", "PUB"]),
            chance.choice(["Leeds", "York", "HULL", None]),
            date(2021, 1, 4) + timedelta(days=chance.randrange(1700)),
        )
        for n, name in enumerate(NAMES)
    ]
    write("clients", ["client_id", "client_name", "client_kind", "city", "client_since"], clients)
    write("menus", ["menu_id", "menu_name", "style", "price_per_head_eur", "vegan", "dropped_on"], MENUS)
    people = [
        (
            n + 1,
            name,
            ["CHF", "WAI", "WAI", "DRV", "WSH", "WAI"][n % 6],
            chance.choice([13.5, 14.0, 16.0, 21.5]),
            date(2020, 3, 1) + timedelta(days=chance.randrange(2000)),
            chance.choice([None, None, None, date(2026, 9, 30)]),
        )
        for n, name in enumerate(TEAM)
    ]
    write("people", ["person_id", "person_name", "job", "hourly_eur", "hired_on", "left_on"], people)
    events = bookings(chance)
    columns = ["booking_no", "client_id", "menu_id", "occasion", "venue", "booked_on", "served_at", "guests", "status"]
    write("bookings", [*columns, "deposit_cents", "total_cents"], events)
    duties(chance, events)
    breakages(chance, events)
    ratings(chance, events)
    purchases(chance)


if __name__ == "__main__":
    main()
