"""Makes the data of the energy supplier: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from math import pi, sin
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
FIRST_HOUR = datetime(2025, 5, 22)
HOURS = 24 * 14
OUTAGE = range(24 * 6, 24 * 6 + 30)  # hours without any reading
TARIFFS = [
    ("T1", "Basic", 990, 31.5, date(2023, 1, 1), None, False),
    ("T2", "Green Home", 1190, 33.2, date(2023, 7, 1), None, True),
    ("T3", "Night Saver", 1290, 27.9, date(2022, 1, 1), date(2025, 12, 31), False),
    ("T4", "Business Flex", 2490, 24.4, date(2024, 1, 1), None, False),
    ("T5", "Green Business", 2790, 26.1, date(2024, 1, 1), None, True),
    ("T6", "Old Basic", 790, None, date(2015, 1, 1), date(2022, 12, 31), False),
]
TOWNS = ["Ashford", "Brook", "Colne", "DOVER", None]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def contracts(chance: random.Random) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    columns = ["tariff_code", "tariff_name", "base_cents", "cents_per_kwh", "valid_from", "valid_to", "is_green"]
    write("tariffs", columns, TARIFFS)

    names = ["Arden", "Blythe", "Carver", "Doyle", "Ellis", "Frost", "Glenn", "Hale", "Innes", "Joyce", "Kerr", "Lowe"]
    customers = []
    for n in range(1, 61):
        segment = chance.choices("HBP", [65, 25, 10])[0]
        tariff = None if n % 20 == 0 else chance.choice(["T1", "T1", "T2", "T3"] if segment == "H" else ["T4", "T5"])
        start = date(2021, 1, 1) + timedelta(days=chance.randrange(1500))
        end = start + timedelta(days=365 + chance.randrange(500)) if chance.random() < 0.15 else None
        name = f"{chance.choice(names)} {['and Sons', 'Ltd', '', '', 'School'][n % 5] if segment != 'H' else n}".strip()
        town = chance.choices(TOWNS, [35, 25, 20, 15, 5])[0]
        customers.append((500 + n, name, town, segment, tariff, start, end))
    columns = ["customer_no", "customer_name", "town", "segment", "tariff_code", "contract_start", "contract_end"]
    write("customers", columns, customers)

    meters = []
    for n in range(1, 49):
        customer = None if n % 16 == 0 else 501 + (n * 7) % 55
        installed = date(2016, 1, 1) + timedelta(days=chance.randrange(3300))
        phases = None if n % 19 == 0 else chance.choice([1, 1, 3])
        meters.append(
            (f"M{n:03}", customer, chance.choice(["Volta 2", "Volta 3", "Amp-X"]), installed, n % 4 != 0, phases)
        )
    write("meters", ["meter_id", "customer_no", "model", "installed_on", "is_smart", "phases"], meters)
    return customers, meters


def consumption(chance: random.Random, meters: list[tuple[Any, ...]]) -> None:
    smart = [one for one in meters if one[4]][:18]
    readings = []
    for place, meter in enumerate(smart):
        scale = 0.3 + 0.15 * place
        for hour in range(HOURS):
            at = FIRST_HOUR + timedelta(hours=hour)
            if hour in OUTAGE or chance.random() < 0.02:
                continue
            load = scale * (1.2 + sin((at.hour - 8) * pi / 12)) * (0.8 if at.weekday() >= 5 else 1.0)
            kwh = None if chance.random() < 0.01 else round(max(0.0, load + chance.gauss(0, 0.1)), 2)
            readings.append((meter[0], at, kwh, chance.choices("MEF", [92, 6, 2])[0]))
    readings.sort(key=lambda one: (one[1], one[0]))
    write("readings", ["meter_id", "read_at", "kwh", "quality"], readings)


def billing(chance: random.Random, customers: list[tuple[Any, ...]]) -> None:
    bills = []
    for month in range(15):
        begin = date(2024 + (month + 3) // 12, (month + 3) % 12 + 1, 1)
        end = (begin + timedelta(days=32)).replace(day=1) - timedelta(days=1)
        for customer in customers[:54]:
            if customer[5] > begin or (customer[6] and customer[6] < end) or chance.random() < 0.05:
                continue
            kwh = round(
                chance.choice([140, 180, 180, 260, 420]) * (4 if customer[3] != "H" else 1) * chance.random(), 1
            )
            issued = end + timedelta(days=chance.randrange(2, 9))
            due = issued + timedelta(days=14)
            paid = None if chance.random() < 0.12 else issued + timedelta(days=min(int(chance.expovariate(1 / 9)), 60))
            bills.append((customer[0], begin, end, kwh, 990 + int(kwh * 30), issued, due, paid))
    columns = ["customer_no", "period_start", "period_end", "kwh", "amount_cents", "issued_on", "due_on", "paid_on"]
    write("bills", ["bill_no", *columns], [(90000 + n, *one) for n, one in enumerate(bills)])


def field_work(chance: random.Random, meters: list[tuple[Any, ...]]) -> None:
    technicians = [
        (1, "R. Singh", "North", date(2015, 4, 1)), (2, "P. Osei", "North", date(2019, 9, 15)),
        (3, "L. Marsh", "South", date(2021, 2, 1)), (4, "K. Voss", "South", date(2012, 6, 1)),
        (5, "T. Lind", None, date(2024, 10, 1)), (6, "E. Roy", "East", date(2025, 5, 1)),
    ]  # fmt: skip
    write("technicians", ["tech_id", "tech_name", "region", "hired_on"], technicians)

    visits = []
    for _ in range(260):
        asked = datetime(2025, 1, 6) + timedelta(minutes=chance.randrange(60 * 24 * 160))
        start = asked + timedelta(hours=chance.randrange(5, 200))
        if start.hour < 7:
            start += timedelta(hours=7)
        done = None if chance.random() < 0.08 else start + timedelta(minutes=chance.choice([15, 20, 30, 45, 60, 95]))
        reason = chance.choices(["INST", "FLT", "SWAP", "INSP"], [15, 45, 15, 25])[0]
        outcome = None if done is None else chance.choices(["OK", "NOA", "FUP"], [74, 14, 12])[0]
        tech = None if chance.random() < 0.04 else chance.choices([1, 2, 3, 4, 5], [30, 25, 20, 15, 10])[0]
        meter = meters[min(int(chance.paretovariate(0.5)), 44)][0]
        cost = None if done is None else chance.choice([2500, 4000, 4000, 6500, 12000])
        visits.append((meter, tech, asked, start, done, reason, outcome, cost))
    visits.sort(key=lambda one: one[2])
    columns = ["meter_id", "tech_id", "requested_at", "started_at", "finished_at", "reason", "outcome", "cost_cents"]
    write("visits", ["visit_id", *columns], [(n + 1, *one) for n, one in enumerate(visits)])


def main() -> None:
    chance = random.Random(47)
    customers, meters = contracts(chance)
    consumption(chance, meters)
    billing(chance, customers)
    field_work(chance, meters)


if __name__ == "__main__":
    main()
