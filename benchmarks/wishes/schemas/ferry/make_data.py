"""Makes the data of the ferry line: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2026, 1, 5)
DAYS = 239
PORTS: list[tuple[Any, ...]] = [
    ("STA", "Stavnes", None, 4, True, date(1968, 5, 1)),
    ("GRA", "Grauhafen", None, 2, True, date(1991, 4, 14)),
    ("LUM", "Lummer Quay", "Lummer", 2, True, date(1968, 5, 1)),
    ("NOR", "NORTH END", "Lummer", 1, False, date(2003, 6, 20)),
    ("TIR", "Tirna Harbour", "Tirna", 1, True, date(1975, 3, 9)),
    ("KEL", "Kelp Bay", "Kelpie", 1, False, date(2012, 7, 1)),
    ("OLD", "Old Slip", "Tirna", 1, False, date(1970, 1, 1)),  # no route any more
]
SHIPS: list[tuple[Any, ...]] = [
    ("S1", "Queen Ada", 1998, 420, 310, "DSL", None),
    ("S2", "Guillemot", 2009, 280, 190, "DSL", None),
    ("S3", "Fulmar", 2016, 300, 220, "LNG", None),
    ("S4", "Tern", 2022, 150, 90, "BAT", None),
    ("S5", "Little Auk", 1987, 90, 0, "DSL", date(2026, 5, 31)),
    ("S6", "Northern Light", 2025, 360, 260, "HYB", None),  # has not sailed yet
]
ROUTES: list[tuple[Any, ...]] = [
    ("SL", "Stavnes - Lummer", "STA", "LUM", 11.5, 55, False),
    ("LS", "Lummer - Stavnes", "LUM", "STA", 11.5, 55, False),
    ("ST", "Stavnes - Tirna", "STA", "TIR", 18.2, 85, False),
    ("TS", "Tirna - Stavnes", "TIR", "STA", 18.2, 85, False),
    ("GN", "Grauhafen - North End", "GRA", "NOR", 7.4, 40, False),
    ("NG", "North End - Grauhafen", "NOR", "GRA", 7.4, 40, False),
    ("GK", "Grauhafen - Kelp Bay", "GRA", "KEL", 22.8, 110, True),
    ("KG", "Kelp Bay - Grauhafen", "KEL", "GRA", 22.8, 110, True),
]
CAPTAINS = ["Aud Hansen", "Brid Malone", "Cato Vik", "Dunja Petrov", "Ewan Reid"]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def sailings(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        storm = chance.random() < (0.16 if day.month in {1, 2, 3} else 0.04)
        if chance.random() < 0.02:  # a day without any sailing
            continue
        for code, *_, seasonal in ROUTES:
            if seasonal and (day.month not in {5, 6, 7, 8} or day.weekday() not in {2, 5, 6}):
                continue
            if code in {"GN", "NG"} and day.weekday() == 1:
                continue
            hour = {"SL": 7, "LS": 9, "ST": 10, "TS": 14, "GN": 8, "NG": 17, "GK": 9, "KG": 16}[code]
            planned = datetime(day.year, day.month, day.day, hour, chance.choice([0, 0, 0, 15, 30]))
            ship = {"S": "S1", "L": "S1", "G": "S3", "N": "S3", "T": "S2", "K": "S4"}[code[0]]
            ship = chance.choice(["S1", "S2", "S3", "S4"]) if chance.random() < 0.35 else ship
            ship = "S5" if day < date(2026, 6, 1) and chance.random() < 0.06 else ship
            wave = None if chance.random() < 0.06 else round(abs(chance.gauss(2.9 if storm else 1.0, 0.5)) + 0.1, 1)
            off = chance.random() < (0.7 if storm else 0.03)
            cause = chance.choices(["TEC", "CRW", "LOW", None], [40, 25, 20, 15])[0]
            cause = "WEA" if storm and chance.random() < 0.93 else cause
            late = chance.choices([0, 0, 2, 4, 7, 11, 18, 34, 62], [20, 20, 15, 13, 11, 9, 6, 4, 2])[0]
            status = "C" if off else "T" if chance.random() < 0.012 else "S"
            left = None if off else planned + timedelta(minutes=late + (6 if storm else 0))
            captain = chance.choices([*CAPTAINS, None], [30, 24, 18, 14, 9, 5])[0]
            captain = "Aud Hansen" if (captain, ship) in {("Ewan Reid", "S1"), ("Dunja Petrov", "S5")} else captain
            named = ship if chance.random() < 0.985 else None
            rows.append((code, named, planned, left, status, cause if off else None, wave, captain))
    rows.sort(key=lambda one: (one[2], one[0]))
    return [(70001 + n, *row) for n, row in enumerate(rows)]


def customers(chance: random.Random) -> None:
    rows: list[tuple[Any, ...]] = []
    for n in range(160):
        name = f"{chance.choice(['Ines', 'Jon', 'Kaja', 'Lars', 'Mona'])} {chance.choice(['Dahl', 'Egge', 'Foss'])} {n}"
        town = chance.choices(["Stavnes", "Lummer", "TIRNA", "Port Ellis", None], [38, 26, 14, 16, 6])[0]
        card = chance.choices(["ISL", "COM", "SEN", "STU", None], [24, 16, 12, 8, 40])[0]
        since = date(2022, 1, 1) + timedelta(days=chance.randrange(1650))
        rows.append((501 + n, name, town, card, since, chance.random() < 0.6))
    names = ["customer_no", "customer_name", "home_town", "discount_card", "registered_on", "wants_texts"]
    write("customers", names, rows)


def sales(chance: random.Random, trips: list[tuple[Any, ...]]) -> None:
    tickets: list[tuple[Any, ...]] = []
    decks: list[tuple[Any, ...]] = []
    bar: list[tuple[Any, ...]] = []
    for trip in trips:
        summer = trip[3].month in {6, 7, 8}
        for _ in range(chance.choices([0, 1, 2, 3, 5], [10, 30, 30, 20, 10 + 20 * summer])[0]):
            before = timedelta(minutes=int(chance.expovariate(1 / 7000)) + 4)
            sold = max(trip[3] - before, datetime(2026, 1, 2, 8)) if chance.random() < 0.93 else trip[3]
            channel = chance.choices(["WEB", "APP", "CTR", "AGT"], [38, 27, 25, 10])[0]
            if chance.random() < 0.05:
                channel, sold = "ONB", trip[3] + timedelta(minutes=chance.randrange(5, 40))
            adults, kids = chance.choices([1, 2, 3, 4, 8], [44, 34, 10, 8, 4])[0], chance.choice([0, 0, 0, 1, 2])
            fare = None if chance.random() < 0.03 else adults * chance.choice([980, 1240, 1490]) + kids * 450
            who = (
                None if channel in {"CTR", "ONB"} or chance.random() < 0.2 else 501 + int(148 * chance.random() ** 1.6)
            )
            back = None
            if (trip[5] == "C" and chance.random() < 0.8) or chance.random() < 0.02:
                back = trip[3].date() + timedelta(days=chance.randrange(1, 12))
            tickets.append((trip[0], who, sold, adults, kids, fare, channel, chance.random() < 0.45, back))
        if trip[5] != "C":
            for _ in range(chance.choices([0, 1, 2, 4], [30, 34, 24, 12])[0]):
                group = chance.choices(["HOT", "CLD", "BEE", "SNK", "SOU"], [34, 22, 12, 26, 6])[0]
                items = chance.choice([1, 1, 2, 2, 3, 5])
                price = {"HOT": 3.2, "CLD": 2.9, "BEE": 5.8, "SNK": 6.4, "SOU": 11.9}[group]
                means = chance.choices(["CSH", "CRD", "VOU"], [24, 66, 10])[0]
                at = trip[4] + timedelta(minutes=chance.randrange(6, 40))
                known = trip[0] if chance.random() < 0.97 else None
                bar.append((known, at, group, items, round(items * price * chance.uniform(0.9, 1.1), 2), means))
    tickets.sort(key=lambda one: (one[2], one[0]))
    numbered = [(100001 + n, *row) for n, row in enumerate(tickets)]
    for ticket in numbered:
        for _ in range(chance.choices([0, 1, 2], [50, 44, 6])[0]):
            kind = chance.choices(["CAR", "VAN", "LOR", "MOT", "CYC", "CAM"], [52, 10, 8, 8, 14, 8])[0]
            low, high, fee = {
                "CAR": (3.6, 5.2, 32),
                "VAN": (5.0, 6.9, 45),
                "LOR": (7.5, 16.5, 128),
                "MOT": (2.0, 2.4, 14),
                "CYC": (1.7, 1.9, 5),
                "CAM": (5.9, 8.4, 58),
            }[kind]
            length = None if chance.random() < 0.05 else round(chance.uniform(low, high), 2)
            plate = None if kind == "CYC" or chance.random() < 0.04 else f"LU {chance.randrange(10000, 99999)}"
            electric = kind in {"CAR", "VAN", "CYC"} and chance.random() < 0.28
            decks.append((ticket[0], kind, plate, length, round(fee * chance.choice([0.8, 1, 1, 1.25]), 2), electric))
    bar.sort(key=lambda one: one[1])
    names = ["ticket_no", "sailing_no", "customer_no", "sold_at", "adults", "children", "fare_cents", "channel"]
    write("tickets", [*names, "is_return", "refunded_on"], numbered)
    names = ["vehicle_id", "ticket_no", "kind", "plate", "length_m", "surcharge_eur", "is_electric"]
    write("vehicles", names, [(1 + n, *row) for n, row in enumerate(decks)])
    names = ["receipt_no", "sailing_no", "paid_at", "product_group", "items", "amount_eur", "paid_by"]
    write("bar_sales", names, [(20001 + n, *row) for n, row in enumerate(bar)])


def main() -> None:
    chance = random.Random(9071)
    write("ports", ["port_code", "port_name", "island", "berths", "has_parking", "opened_on"], PORTS)
    write("ships", ["ship_id", "ship_name", "built_in", "seats", "lane_metres", "engine", "withdrawn_on"], SHIPS)
    names = ["route_code", "route_name", "from_port", "to_port", "distance_nm", "planned_minutes", "is_seasonal"]
    write("routes", names, ROUTES)
    trips = sailings(chance)
    names = ["sailing_no", "route_code", "ship_id", "departs_at", "left_at", "status", "cancel_reason", "wave_m"]
    write("sailings", [*names, "captain"], trips)
    customers(chance)
    sales(chance, trips)


if __name__ == "__main__":
    main()
