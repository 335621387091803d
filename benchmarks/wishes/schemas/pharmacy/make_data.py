"""Makes the data of the pharmacies: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2025, 7, 1)
DAYS = 365
BRANCHES: list[tuple[Any, ...]] = [
    ("AP1", "Lion", "Neuburg", date(1998, 3, 2), 140.0, True, "Ada Brandt"),
    ("AP2", "Market Square", "Neuburg", date(2006, 9, 18), 95.5, False, "Ben Castell"),
    ("AP3", "Station", "Altdorf", date(2011, 5, 9), 210.0, True, "Cleo Dorn"),
    ("AP4", "Riverside", "WEIDEN", date(2019, 10, 1), 120.0, False, None),
    ("AP5", "Hospital Gate", "Altdorf", date(2023, 1, 16), 310.0, True, "Emil Falk"),
    ("AP6", "Hill", "Weiden", date(2026, 6, 29), 88.0, False, "Fia Gross"),  # no prescription yet
]
NAMES = ["Algofen", "Bronchin", "Cardol", "Dermasan", "Enteron", "Febrex", "Glucomed", "Hepalin", "Insupen", "Juvelan"]
DOCTORS = ["Dr Amsel", "Dr Birk", "Dr Czerny", "Dr Dohle", "Dr Elster", "Dr Fink", "Dr Grabow", "Dr Habicht"]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def products(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(40):
        form = chance.choices(["TAB", "SYR", "CRM", "INJ", "DEV"], [44, 14, 16, 16, 10])[0]
        maker = chance.choices(["Alpen Pharma", "Bergmann", "Corvia", "DELTAMED"], [34, 28, 22, 16])[0]
        low, high = {"TAB": (4, 60), "SYR": (5, 22), "CRM": (6, 35), "INJ": (30, 190), "DEV": (18, 120)}[form]
        gone = date(2025, 9, 1) + timedelta(days=chance.randrange(300)) if chance.random() < 0.15 else None
        cold = (form == "INJ" and chance.random() < 0.7) or chance.random() < 0.06 or n % 9 == 4
        name = f"{NAMES[n % 10]} {chance.choice([5, 10, 20, 50])}-{n}"
        price = round(chance.uniform(low, high), 2)
        rows.append((3001 + n, name, form, maker, price, form == "INJ" or chance.random() < 0.6, cold, gone))
    return rows


def cards(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(180):
        name = f"{chance.choice(['Ina', 'Jan', 'Kim', 'Leo', 'Mia'])} {chance.choice(['Adler', 'Bach', 'Conrad'])} {n}"
        branch = chance.choices(["AP1", "AP2", "AP3", "AP4", "AP5"], [30, 18, 24, 12, 16])[0]
        level = chance.choices(["BRZ", "SLV", "GLD"], [60, 28, 12])[0]
        points = chance.randrange(0, {"BRZ": 400, "SLV": 1200, "GLD": 3000}[level])
        since = date(2023, 1, 10) + timedelta(days=chance.randrange(1260))
        blocked = since + timedelta(days=chance.randrange(20, 500)) if chance.random() < 0.12 else None
        rows.append((50001 + n, name, branch, level, points, since, blocked, chance.random() < 0.55))
    return rows


def sales(chance: random.Random, listed: list[tuple[Any, ...]]) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    scripts: list[tuple[Any, ...]] = []
    lines: list[tuple[Any, ...]] = []
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        if day.weekday() == 6:
            continue
        for _ in range(chance.choice([3, 4, 5, 6]) + 3 * (day.month in {1, 2, 11, 12})):
            branch = chance.choices(["AP1", "AP2", "AP3", "AP4", "AP5"], [30, 14, 22, 10, 24])[0]
            came = datetime(day.year, day.month, day.day, 8) + timedelta(seconds=chance.randrange(36000))
            hours = chance.choices([0.2, 3, 20, 30, 80, 130], [50, 18, 14, 8, 6, 4])[0] * chance.uniform(0.8, 1.2)
            out = came + timedelta(seconds=int(hours * 3600))
            waits = chance.random() < 0.03 or out > datetime(2026, 7, 1)
            card = 50001 + int(160 * chance.random() ** 1.4) if chance.random() < 0.6 else None
            doctor = chance.choices(DOCTORS, [26, 20, 16, 12, 10, 8, 5, 3])[0]
            payer = chance.choices(["PUB", "PRV", "SLF"], [74, 18, 8])[0]
            number = 700001 + len(scripts)
            written = day - timedelta(days=chance.choice([0, 0, 1, 2, 6, 14]))
            electronic = chance.random() < 0.5 + n / 1000
            scripts.append((number, branch, card, doctor, written, came, None if waits else out, payer, electronic))
            for product in chance.sample(listed[:36], chance.choice([1, 1, 1, 2, 2, 3])):  # four were never dispensed
                packs = chance.choice([1, 1, 1, 2, 3])
                price = round(packs * product[4] * chance.choice([1, 1, 0.9]), 2)
                free = payer != "PUB" or chance.random() < 0.2
                copay = None if free else min(10.0, max(5.0, round(price / 10, 2)))
                lines.append((len(lines) + 1, number, product[0], packs, price, copay, chance.random() < 0.13))
    return scripts, lines


def deliveries(chance: random.Random, listed: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        if day.weekday() >= 5:
            continue
        for _ in range(chance.choice([1, 2, 3, 4])):
            product = chance.choice(listed[:38])  # two were never ordered
            branch = chance.choices(["AP1", "AP2", "AP3", "AP4", "AP5"], [28, 16, 22, 12, 22])[0]
            house = chance.choices(["Medilog", "PharmaHaus", "Nordmed"], [46, 34, 20])[0]
            ordered = datetime(day.year, day.month, day.day, 7) + timedelta(seconds=chance.randrange(28800))
            hours = {"Medilog": 20, "PharmaHaus": 28, "Nordmed": 44}[house] * chance.uniform(0.6, 1.8)
            arrived = ordered + timedelta(seconds=int(hours * 3600))
            packs = chance.choice([10, 20, 40, 60])
            lost = arrived > datetime(2026, 7, 1) or chance.random() < 0.02
            short = packs - chance.choice([1, 2, 5]) if chance.random() < 0.08 else packs
            cost = round(packs * product[4] * chance.uniform(0.6, 0.75), 2)
            until = day + timedelta(days=chance.choice([120, 300, 540, 720, 1080]) + chance.randrange(30))
            rows.append(
                (
                    branch,
                    product[0],
                    house,
                    ordered,
                    None if lost else arrived,
                    packs,
                    None if lost else short,
                    cost,
                    until,
                )
            )
    rows.sort(key=lambda one: one[3])
    return [(90001 + n, *row) for n, row in enumerate(rows)]


def main() -> None:
    chance = random.Random(4417)
    names = ["branch_code", "branch_name", "town", "opened_on", "floor_area_m2", "has_night_service", "manager"]
    write("branches", names, BRANCHES)
    listed = products(chance)
    names = ["product_no", "product_name", "form", "maker", "list_price_eur", "is_prescription_only", "needs_cooling"]
    write("products", [*names, "delisted_on"], listed)
    names = ["card_no", "customer_name", "branch_code", "level", "points", "issued_on", "blocked_on"]
    write("loyalty_cards", [*names, "wants_newsletter"], cards(chance))
    scripts, lines = sales(chance, listed)
    names = ["prescription_no", "branch_code", "card_no", "doctor_name", "written_on", "received_at", "handed_out_at"]
    write("prescriptions", [*names, "payer", "is_electronic"], scripts)
    names = ["line_no", "prescription_no", "product_no", "packs", "price_eur", "copayment_eur", "is_substituted"]
    write("prescription_lines", names, lines)
    names = ["delivery_no", "branch_code", "product_no", "wholesaler", "ordered_at", "arrived_at", "packs_ordered"]
    write("deliveries", [*names, "packs_delivered", "cost_eur", "expires_on"], deliveries(chance, listed))


if __name__ == "__main__":
    main()
