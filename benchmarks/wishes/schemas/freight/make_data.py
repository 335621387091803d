"""Makes the data of the haulier: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = datetime(2025, 2, 3)
DAYS = 145
QUIET = range(73, 79)  # days without bookings
DEPOTS = [
    ("HAM", "Hamburg Port", "Hamburg", "DE", 24, date(2004, 5, 1)),
    ("LYS", "Lyon South", "Lyon", "FR", 16, date(2009, 9, 1)),
    ("POZ", "Poznan", "Poznan", "PL", 12, date(2013, 3, 1)),
    ("ANR", "Antwerp", "Antwerp", "BE", 20, date(2006, 11, 15)),
    ("MIL", "MILANO EST", "Milan", "IT", None, date(2018, 2, 1)),
    ("GOT", "Gothenburg", "Gothenburg", "SE", 8, date(2024, 12, 1)),
]
CODES = ["HAM", "LYS", "POZ", "ANR", "MIL"]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def firm(chance: random.Random) -> list[tuple[Any, ...]]:
    write("depots", ["depot_code", "depot_name", "city", "country", "ramps", "opened_on"], DEPOTS)

    names = [
        "Adler",
        "Borea",
        "Corvin",
        "Delta",
        "Ensis",
        "Faro",
        "Grano",
        "Helix",
        "Iris",
        "Junker",
        "Kaluga",
        "Lumen",
    ]
    ends = ["Foods", "Steel", "Paper", "Pharma", "Textiles"]
    customers = []
    for n in range(1, 49):
        industry = (
            None if n % 13 == 0 else chance.choice(["food", "metal", "paper", "pharma", "textiles", "Do it yourself"])
        )
        country = chance.choices(["DE", "FR", "PL", "BE", "IT"], [35, 25, 15, 15, 10])[0]
        limit = None if n % 9 == 0 else chance.choice([500000, 1000000, 1000000, 2500000])
        since = date(2012, 1, 1) + timedelta(days=chance.randrange(4700))
        customers.append((n, f"{names[n % 12]} {ends[n % 5]}", industry, country, chance.random() < 0.25, limit, since))
    columns = [
        "customer_id",
        "company",
        "industry",
        "country",
        "is_key_account",
        "credit_limit_cents",
        "customer_since",
    ]
    write("customers", columns, customers)

    trucks = []
    for n in range(1, 31):
        kind = ["R", "T", "T", "V", "C"][n % 5]
        capacity = {"R": 12000, "T": 24000, "V": 1500, "C": 18000}[kind]
        bought = None if n % 14 == 0 else date(2014, 1, 1) + timedelta(days=chance.randrange(4000))
        make = chance.choice(["Volva", "Skanda", "Manta"])
        euro = chance.choice([5, 6, 6])
        trucks.append((f"TR-{n:02}", make, kind, capacity, CODES[n % 5], bought, chance.random() < 0.88, euro))
    columns = ["truck_no", "make", "body", "capacity_kg", "home_depot", "bought_on", "is_active", "euro_norm"]
    write("trucks", columns, trucks)

    first = ["Adam", "Birte", "Cyril", "Dario", "Emil", "Femke", "Gil", "Hedda", "Igor", "Joanna", "Karel", "Lotte"]
    drivers = []
    for n in range(1, 37):
        hired = date(2011, 1, 1) + timedelta(days=chance.randrange(5100))
        left = date(2025, 1, 1) + timedelta(days=chance.randrange(160)) if n % 9 == 0 else None
        depot = None if n % 17 == 0 else chance.choice(CODES)
        licence = chance.choices(["C", "CE", "B"], [25, 65, 10])[0]
        drivers.append((100 + n, f"{first[n % 12]} {'ABCDEFGHKLMN'[n // 3 % 12]}.", depot, licence, hired, left))
    write("drivers", ["driver_id", "driver_name", "home_depot", "licence", "hired_on", "left_on"], drivers)
    return trucks


def work(chance: random.Random, trucks: list[tuple[Any, ...]]) -> None:
    distances = {frozenset(pair): 400 + 90 * n for n, pair in enumerate((a, b) for a in CODES for b in CODES if a < b)}
    shipments: list[tuple[Any, ...]] = []
    legs: list[tuple[Any, ...]] = []
    for day in range(DAYS):
        at = BEGIN + timedelta(days=day)
        if day in QUIET:
            continue
        for _ in range(chance.randrange(1, 4) if at.weekday() >= 5 else chance.randrange(2, 10)):
            booked = at + timedelta(minutes=chance.randrange(6 * 60, 20 * 60))
            start, end = chance.sample(CODES, 2)
            status = chance.choices(["DEL", "TRN", "BKD", "CAN", "LST"], [82, 5, 5, 6, 2])[0]
            picked = booked + timedelta(hours=chance.randrange(3, 60)) if status in {"DEL", "TRN", "LST"} else None
            promised = booked.date() + timedelta(days=chance.choice([3, 4, 5, 7]))
            done = picked + timedelta(hours=chance.randrange(14, 110)) if status == "DEL" and picked else None
            weight = (
                None if chance.random() < 0.03 else chance.choice([120, 480, 800, 800, 1500, 4200, 9000, 16000, 22000])
            )
            price = 9000 + (weight or 1000) * 6 + chance.randrange(0, 60) * 500
            customer = min(int(chance.paretovariate(0.6)), 44)
            goods = chance.choices(["STD", "COLD", "HAZ", "FRAG", None], [58, 18, 9, 11, 4])[0]
            number = 20000 + len(shipments)
            shipments.append(
                (number, customer, start, end, booked, picked, promised, done, status, weight, price, goods)
            )
            if picked and chance.random() < 0.97:
                via = chance.choice([code for code in CODES if code not in {start, end}])
                stops = [start, via, end] if chance.random() < 0.35 else [start, end]
                leave = picked + timedelta(hours=chance.randrange(1, 5))
                for place in range(len(stops) - 1):
                    km = distances[frozenset(stops[place : place + 2])] + chance.randrange(-30, 31)
                    arrive = leave + timedelta(minutes=int(km / chance.choice([58, 64, 70]) * 60))
                    open_end = status == "TRN" and place == len(stops) - 2
                    truck = chance.choice(trucks[:27])[0]
                    driver = None if chance.random() < 0.03 else 101 + min(int(chance.expovariate(1 / 9)), 33)
                    legs.append(
                        (number, truck, driver, *stops[place : place + 2], leave, None if open_end else arrive, km)
                    )
                    leave = arrive + timedelta(hours=chance.randrange(1, 8))
    columns = ["customer_id", "origin", "destination", "booked_at", "picked_up_at", "promised_on", "delivered_at"]
    columns = ["shipment_id", *columns, "status", "weight_kg", "price_cents", "goods"]
    write("shipments", columns, shipments)

    legs.sort(key=lambda one: one[5])
    columns = ["shipment_id", "truck_no", "driver_id", "from_depot", "to_depot", "departed_at", "arrived_at", "km"]
    write("legs", ["leg_id", *columns], [(n + 1, *one) for n, one in enumerate(legs)])

    fills: list[tuple[Any, ...]] = []
    for leg in legs:
        if chance.random() < 0.6:
            at = leg[5] + timedelta(minutes=chance.randrange(20, 300))
            litres = None if chance.random() < 0.03 else round(leg[7] * chance.choice([0.22, 0.27, 0.31, 0.36]), 1)
            cost = int((litres or 150) * chance.choice([152, 158, 163, 171]))
            brand = chance.choices(["Shelter", "Totem", "ARAL-X", "Own pump", None], [30, 30, 20, 16, 4])[0]
            fills.append((leg[1], leg[2], at, chance.choice(["DE", "DE", "FR", "PL", "BE", "IT"]), brand, litres, cost))
    fills.sort(key=lambda one: one[2])
    columns = ["truck_no", "driver_id", "filled_at", "country", "brand", "litres", "cost_cents"]
    write("fuel_stops", ["stop_id", *columns], [(n + 1, *one) for n, one in enumerate(fills)])


def main() -> None:
    chance = random.Random(83)
    trucks = firm(chance)
    work(chance, trucks)


if __name__ == "__main__":
    main()
