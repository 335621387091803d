"""Makes the data of the quarry: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2026, 1, 5)
LAST = date(2026, 10, 31)
FROST = (date(2026, 1, 26), date(2026, 2, 8))  # nothing is blasted, crushed or sold
Row = tuple[Any, ...]
GRADES: list[Row] = [
    ("G02", "Crusher Sand", 2.0, "CON", 11.4, True),
    ("G08", "Fine Chippings", 8.0, "CON", 14.9, True),
    ("G16", "chippings 8/16", 16.0, "ROA", 13.2, True),
    ("G32", "Road Base", 32.0, "ROA", 9.75, False),
    ("G63", "Rail Ballast", 63.0, "RAI", 16.5, True),
    ("GRB", "Garden Boulders", None, "GAR", 38.0, None),
    ("GRW", "Armour Stone", None, "WAT", 52.0, False),  # has not been sold
]
CUSTOMERS: list[Row] = [
    (1, "Adler Road Works", "ROA", "Seehof", 60000, None),
    (2, "BETON NORD", "BLD", "Marl", 80000, None),
    (3, "City of Marl", "PUB", "Marl", None, None),
    (4, "Dietz & Sons", "BLD", "Grund", 15000, date(2026, 7, 1)),
    (5, "Elm Gardens", "GAR", None, 5000, None),
    (6, "Ferro Rail", "RAI", "Seehof", 120000, None),
    (7, "green hill landscapes", "GAR", "Grund", None, None),
    (8, "Hagen Bau", "BLD", "Marl", 30000, None),
    (9, "Ivo Kern", "PRI", None, None, None),
    (10, "Jura Concrete", "BLD", "Ostfeld", 45000, None),  # has not bought anything
]
PLATES = ["MA-QR 11", "MA-QR 12", "SE-AR 204", "MA-BN 7", "GR-DS 31", "SE-FR 90", "MA-HB 55"]


def write(name: str, columns: list[str], rows: list[Row]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def working_days() -> list[date]:
    days = [BEGIN + timedelta(days=n) for n in range((LAST - BEGIN).days + 1)]
    return [day for day in days if day.weekday() < 6 and not FROST[0] <= day <= FROST[1]]


def at(day: date, hour: int, minute: int) -> datetime:
    return datetime(day.year, day.month, day.day, hour, minute)


def blasts(chance: random.Random) -> None:
    rows: list[Row] = []
    for day in working_days():
        if day.weekday() > 4 or chance.random() > 0.42:
            continue
        holes = chance.randrange(8, 37)
        explosive = round(holes * chance.uniform(18, 42), 1)
        rock = None if day > date(2026, 10, 20) else int(explosive * chance.uniform(5, 9)) // 10 * 10
        who = chance.choice(["Roth", "Roth", "Sauer", "van Dyk", None])
        bench = chance.choice(["North 1", "North 2", "south", "Old Face"])
        fired = at(day, chance.choice([10, 11, 14]), chance.choice([0, 10, 30]))
        rows.append((bench, fired, holes, explosive, rock, who, chance.random() < 0.08))
    columns = ["blast_no", "bench", "fired_at", "holes", "explosive_kg", "rock_tonnes", "blaster", "misfire"]
    write("blasts", columns, [(101 + n, *row) for n, row in enumerate(rows)])


def crusher_runs(chance: random.Random) -> None:
    rows: list[Row] = []
    for day in working_days():
        for crusher, strong in (("Big Mouth", 260), ("Cone 2", 150), ("cone 3", 120)):
            if chance.random() < 0.28:
                continue
            begin = at(day, chance.randrange(6, 10), chance.choice([0, 20, 40]))
            hours = chance.uniform(1.5, 8)
            fed = round(strong * hours * chance.uniform(0.6, 1), 1)
            good = round(fed * chance.uniform(0.72, 0.97), 1)
            power = None if chance.random() < 0.07 else round(fed * chance.uniform(1.1, 2.4), 1)
            why = chance.choices(["END", "JAM", "PWR", "WEA"], [70, 17, 4, 9])[0]
            grade = chance.choices(["G02", "G08", "G16", "G32", "G63"], [20, 22, 20, 24, 14])[0]
            end = None if day == LAST else begin + timedelta(minutes=int(hours * 60))
            rows.append((crusher, grade, begin, end, fed, good, power, None if end is None else why))
    columns = ["run_no", "crusher", "grade_id", "started_at", "stopped_at", "fed_tonnes", "good_tonnes", "energy_kwh"]
    write("crusher_runs", [*columns, "stop_reason"], [(3001 + n, *row) for n, row in enumerate(rows)])


def loads(chance: random.Random) -> None:
    rows: list[Row] = []
    for day in working_days():
        for _ in range(chance.randrange(1, 8)):
            customer = chance.choices([1, 2, 3, 4, 5, 6, 7, 8, 9, None], [20, 24, 8, 9, 5, 10, 6, 12, 2, 6])[0]
            grade = GRADES[chance.choices(range(6), [20, 18, 17, 25, 14, 6])[0]]
            empty = chance.randrange(9800, 15200, 20)
            net = chance.randrange(4000, 26500, 20)
            price = round(net / 1000 * grade[4] * 100 * chance.choice([1, 1, 0.95]))
            paid = None if chance.random() < 0.22 else day + timedelta(days=chance.randrange(0, 45))
            paid = None if paid and paid > LAST else paid
            when = at(day, chance.randrange(6, 17), chance.randrange(60))
            haul = chance.choices(["COL", "DEL"], [64, 36])[0]
            plate = chance.choice(PLATES)
            void = chance.random() < 0.05
            rows.append(
                (customer, grade[0], plate, when, empty, empty + net, price, void, haul, None if void else paid)
            )
    rows.sort(key=lambda row: row[3])
    columns = ["ticket_no", "customer_id", "grade_id", "truck_plate", "weighed_at", "empty_kg", "full_kg"]
    columns += ["amount_cents", "voided", "haul", "paid_on"]
    write("loads", columns, [(70001 + n, *row) for n, row in enumerate(rows)])


def dust_readings(chance: random.Random) -> None:
    rows: list[Row] = []
    for day in working_days()[-60:]:
        for post, usual in (("Gate", 38), ("school", 22), ("River Road", 29)):
            dust = usual * chance.uniform(0.4, 1.4)
            for hour in range(6, 18, 2):
                if chance.random() < 0.08:
                    continue  # the post sent nothing
                dust = max(3, dust + chance.uniform(-14, 16))
                pm10 = None if chance.random() < 0.04 else round(dust, 1)
                wind = None if chance.random() < 0.1 else round(chance.uniform(0, 45), 1)
                rows.append((post, at(day, hour, chance.choice([0, 0, 0, 5])), pm10, wind))
    rows.sort(key=lambda row: (row[1], row[0]))
    write(
        "dust_readings",
        ["reading_no", "post", "read_at", "pm10", "wind_kmh"],
        [(9001 + n, *row) for n, row in enumerate(rows)],
    )


def main() -> None:
    chance = random.Random(362)
    write("grades", ["grade_id", "grade_name", "size_mm", "made_for", "price_per_tonne_eur", "certified"], GRADES)
    columns = ["customer_id", "customer_name", "trade", "town", "credit_limit_eur", "blocked_since"]
    write("customers", columns, CUSTOMERS)
    blasts(chance)
    crusher_runs(chance)
    loads(chance)
    dust_readings(chance)


if __name__ == "__main__":
    main()
