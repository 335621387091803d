"""Makes the data of the tram and bus operator: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = datetime(2025, 1, 1)

LINES = [
    ("1", "Harbour - University", "TRM", 11.4, 24, date(1998, 5, 30)),
    ("2", "Station - Zoo", "TRM", 8.2, 17, date(1998, 5, 30)),
    ("4", "Airport - Old Town", "TRM", 16.9, 31, date(2011, 9, 3)),
    ("7", "Mill Road - Stadium", "TRM", 9.6, 19, date(2016, 6, 18)),
    ("12", "Station - Hospital", "BUS", 7.1, 16, date(1985, 4, 1)),
    ("15", "Market - Lakeside", "BUS", 13.8, 29, date(2003, 12, 14)),
    ("23", "University - Hill Park", "BUS", 6.4, 15, date(2019, 8, 26)),
    ("31", "Station - Industrial Park", "BUS", 10.3, 20, date(2021, 12, 12)),
    ("N1", "Old Town - Lakeside", "NGT", 14.7, 26, date(2008, 6, 7)),
    ("N2", "Station - Mill Road", "NGT", 12.2, 22, date(2014, 4, 5)),
]
TRAMS = [("Bombardier Flexity", 92, True), ("Siemens Avenio", 104, True), ("Duewag M6", 68, False)]
BUSES = [
    ("MAN Lion's City", 38, True),
    ("Solaris Urbino", 84, True),
    ("Mercedes Citaro", 41, True),
    ("Volvo 8700", 46, False),
]
GIVEN = ["Ada", "Ben", "Clara", "Deniz", "Emil", "Fatma", "Georg", "Hanna"]
FAMILY = ["Arslan", "Becker", "Cordes", "Dahl", "Ernst", "Fuchs"]
TICKETS = {"SGL": 2.8, "DAY": 7.4, "WEK": 24.0, "MON": 72.0}


def write(name: str, columns: str, rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns.split())
        writer.writerows(rows)


def text(flag: bool) -> str:
    return "true" if flag else "false"


def vehicles(chance: random.Random) -> list[tuple[Any, ...]]:
    found = []
    for n in range(1, 41):
        kind = "TRM" if n <= 18 else "BUS"
        model, seats, low = chance.choice(TRAMS if kind == "TRM" else BUSES)
        since = date(2004, 1, 1) + timedelta(days=chance.randrange(7300))
        until = date(2025, 3, 1) + timedelta(days=chance.randrange(400)) if chance.random() < 0.15 else None
        depot = chance.choice(["North", "South", "Harbour"])
        found.append((100 + n, kind, model, depot, seats, text(low), since, until))
    return found


def drivers(chance: random.Random) -> list[tuple[Any, ...]]:
    names = [f"{given} {family}" for given in GIVEN for family in FAMILY]
    found = []
    for n, name in enumerate(chance.sample(names, 44), start=1):
        hired = date(2009, 1, 1) + timedelta(days=chance.randrange(6200))
        left = date(2025, 6, 1) + timedelta(days=chance.randrange(380)) if chance.random() < 0.2 else None
        if left and left <= hired:
            left = None
        hours = chance.choice([19.5, 25.0, 39.0, 39.0, 39.0])
        found.append((n, name, hired, left, chance.choice(["TRM", "BUS", "BUS", "ALL"]), hours))
    return found


def trips(chance: random.Random, fleet: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    found = []
    for _ in range(1500):
        line = chance.choice([*LINES, *LINES[:6]])
        kind = "TRM" if line[2] == "TRM" else "BUS"
        car = chance.choice([one for one in fleet if one[1] == kind])
        hour = chance.choice([0, 1, 2, 3]) if line[2] == "NGT" else chance.randint(5, 22)
        start = BEGIN + timedelta(days=chance.randrange(540), hours=hour, minutes=5 * chance.randrange(12))
        status = chance.choices(["RUN", "CAN", "BRK"], [92, 6, 2])[0]
        late = round(max(-2.0, chance.gauss(2.5 + (hour in (7, 8, 16, 17)) * 3, 4)), 1) if status == "RUN" else None
        people = None if status == "CAN" else chance.randint(3, 140 if kind == "TRM" else 75)
        driver = chance.randint(1, 42) if line[2] != "NGT" else chance.randint(1, 24)
        found.append((line[0], car[0], driver, start, status, late, people))
    found = list({(row[1], row[3]): row for row in found}.values())  # a vehicle makes one trip at a time
    found.sort(key=lambda row: (row[3], row[0]))
    return [(n, *row) for n, row in enumerate(found, start=1)]


def tickets(chance: random.Random) -> list[tuple[Any, ...]]:
    found = []
    for _ in range(1800):
        at = BEGIN + timedelta(days=chance.randrange(540), hours=chance.randint(4, 23), minutes=chance.randrange(60))
        kind = chance.choices(["SGL", "DAY", "WEK", "MON"], [60, 22, 8, 10])[0]
        zones = chance.randint(1, 4)
        low = chance.random() < 0.3
        price = round(TICKETS[kind] * (1 + 0.25 * (zones - 1)) * (0.6 if low else 1), 2)
        back = price if chance.random() < 0.03 else None
        ways = ["APP", "MCH", "DRV"] if kind == "SGL" else ["APP", "MCH", "SHP"]
        found.append((at, kind, chance.choice(ways), zones, text(low), price, back))
    found.sort(key=lambda row: row[0])
    return [(n, *row) for n, row in enumerate(found, start=1)]


def complaints(chance: random.Random) -> list[tuple[Any, ...]]:
    found = []
    for _ in range(260):
        at = BEGIN + timedelta(days=chance.randrange(540), hours=chance.randint(6, 22), minutes=chance.randrange(60))
        line = chance.choices(LINES, [3, 2, 9, 2, 3, 7, 2, 1, 1, 1])[0][0]
        topic = chance.choice(["DLY", "DLY", "DRV", "CLN", "FUL"])
        done = at + timedelta(hours=chance.randint(5, 500)) if chance.random() < 0.85 else None
        paid = float(chance.choice([5, 10, 15, 25])) if done and topic == "DLY" and chance.random() < 0.4 else None
        found.append((at, line, topic, done, paid))
    found.sort(key=lambda row: row[0])
    return [(n, *row) for n, row in enumerate(found, start=1)]


def main() -> None:
    chance = random.Random(417)
    write("lines", "line_no line_name line_type length_km stops opened_on", LINES)
    fleet = vehicles(chance)
    write("vehicles", "vehicle_id vehicle_type model depot seats low_floor in_service_since withdrawn_on", fleet)
    write("drivers", "driver_no driver_name hired_on left_on licence weekly_hours", drivers(chance))
    write(
        "trips",
        "trip_no line_no vehicle_id driver_no planned_start status delay_min passengers",
        trips(chance, fleet),
    )
    write("tickets", "ticket_no sold_at ticket_type channel zones concession price_eur refund_eur", tickets(chance))
    write("complaints", "complaint_no received_at line_no topic answered_at compensation_eur", complaints(chance))


if __name__ == "__main__":
    main()
