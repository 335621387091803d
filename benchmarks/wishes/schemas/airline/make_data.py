"""Makes the data of the airline: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = datetime(2026, 3, 2)
DAYS = 90
AIRPORTS = [
    ("ARN", "Arden", "Norland"),
    ("BEX", "Bexhill", "Norland"),
    ("CAL", "Calder Bay", "Westmark"),
    ("DUN", "Dunmore", "Westmark"),
    ("ELB", "Elbow Creek", "Osteria"),
    ("FAR", "Farpoint", None),
]
HOURS = {"ARN": 0, "BEX": 1, "CAL": 2, "DUN": 3, "ELB": 4}


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def flights(chance: random.Random) -> list[tuple[Any, ...]]:
    fleet = []
    for n in range(9):
        model = ["A320", "E190", "ATR 72"][n % 3]
        seats = {"A320": 180, "E190": 100, "ATR 72": 70}[model]
        fleet.append((f"N-{chr(65 + n)}X{n}", model, seats, date(2012, 4, 1) + timedelta(days=chance.randrange(5000))))
    write("aircraft", ["tail_no", "model", "seats", "delivered_on"], fleet)
    rows: list[tuple[Any, ...]] = []
    for day in range(DAYS):
        for _ in range(chance.choice([4, 5, 6, 7])):
            one, other = chance.sample(AIRPORTS[:5], 2)
            leaves = BEGIN + timedelta(days=day, hours=chance.randrange(6, 21), minutes=chance.choice([0, 20, 40]))
            lands = leaves + timedelta(minutes=50 + 25 * abs(HOURS[one[0]] - HOURS[other[0]]))
            status = chance.choices("FXD", [90, 8, 2])[0]
            late = int(chance.choice([-5, 0, 0, 5, 10, 20, 35, 60, 140]) * chance.random() * 1.5)
            left = None if status == "X" else leaves + timedelta(minutes=max(late, -10))
            landed = None if status != "F" else lands + timedelta(minutes=late + chance.randrange(-8, 12))
            number = f"SK{100 + HOURS[one[0]] * 10 + HOURS[other[0]]}"
            plane = None if status == "X" and chance.random() < 0.5 else chance.choice(fleet[:8])[0]
            rows.append((number, one[0], other[0], plane, leaves, left, lands, landed, status))
    rows.sort(key=lambda one: (one[4], one[0]))
    columns = [
        "flight_no",
        "origin",
        "destination",
        "tail_no",
        "planned_departure",
        "real_departure",
        "planned_arrival",
        "real_arrival",
        "status",
    ]
    rows = [(80001 + n, *one) for n, one in enumerate(rows)]
    write("flights", ["flight_id", *columns], rows)
    return rows


def tickets(chance: random.Random, flown: list[tuple[Any, ...]]) -> None:
    first = ["Otto", "Pia", "Quin", "Rosa", "Sven", "Tara", "Ugo", "Vera", "Wim", "Xenia", "Yara", "Zeno"]
    last = ["Abel", "Borg", "Cruz", "Dahl", "Engel", "Foss", "Gallo", "Holm", "Ivers", "Jung"]
    people = []
    for n in range(110):
        name = f"{first[n % 12]} {last[(n * 7) % 10]}"
        nation = chance.choices(["Norland", "Westmark", "Osteria", None], [50, 30, 15, 5])[0]
        since = None if n % 4 == 1 else date(2019, 1, 1) + timedelta(days=chance.randrange(2500))
        people.append(
            (5001 + n, name, nation, None if since is None else chance.choices("BSG", [60, 30, 10])[0], since)
        )
    write("passengers", ["passenger_id", "passenger_name", "nationality", "tier", "enrolled_on"], people)
    rows: list[tuple[Any, ...]] = []
    for flight in flown:
        for person in chance.sample(people[:98], chance.choice([0, 1, 2, 3, 4, 5])):
            cabin = chance.choices("YC", [82, 18])[0]
            fare = chance.randrange(4900, 19900, 100) * (3 if cabin == "C" else 1)
            sold = flight[5] - timedelta(days=chance.randrange(1, 80), minutes=chance.randrange(1440))
            channel = chance.choices(["WEB", "AGT", "DSK"], [60, 30, 10])[0]
            seat = None if chance.random() < 0.15 else f"{chance.randrange(1, 30)}{chance.choice('ABCDEF')}"
            rows.append((flight[0], person[0], cabin, fare, sold, channel, seat))
    rows.sort(key=lambda one: (one[4], one[0], one[1]))
    columns = ["flight_id", "passenger_id", "cabin", "fare_cents", "sold_at", "channel", "seat"]
    rows = [(600001 + n, *one) for n, one in enumerate(rows)]
    write("tickets", ["ticket_no", *columns], rows)
    bags: list[tuple[Any, ...]] = []
    for ticket in rows:
        for _ in range(chance.choice([0, 0, 1, 1, 2])):
            bags.append((len(bags) + 1, ticket[0], round(chance.uniform(4, 31), 1), chance.random() < 0.03))
    write("bags", ["bag_tag", "ticket_no", "weight_kg", "is_lost"], bags)


def main() -> None:
    chance = random.Random(71)
    write("airports", ["iata", "airport_name", "country"], AIRPORTS)
    tickets(chance, flights(chance))


if __name__ == "__main__":
    main()
