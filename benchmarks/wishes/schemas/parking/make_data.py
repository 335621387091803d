"""Makes the data of the parking operator: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = datetime(2025, 1, 6)
DAYS = 147
QUIET = range(58, 62)  # days on which the counters were down
GARAGES = [
    ("MKT", "Market Square", "Weston", "U", 420, 24, True, date(1998, 4, 1)),
    ("RIV", "Riverside", "Weston", "M", 610, 12, True, date(2007, 9, 15)),
    ("STN", "Central Station", "Harlow Bay", "M", 880, 40, True, date(2012, 5, 2)),
    ("HOS", "City Hospital", "Harlow Bay", "O", 150, None, False, date(2003, 1, 10)),
    ("AIR", "AIRPORT P1", "Linden", "O", 1200, 60, True, date(2016, 6, 30)),
    ("OPR", "Opera", "Linden", "U", 240, 8, True, date(2001, 11, 5)),
    ("UNI", "University North", "Linden", "O", 300, 0, False, date(2025, 5, 20)),
]
TARIFFS = [
    ("STD", "Standard", 250, 2000),
    ("EVE", "Evening and night", 120, 800),
    ("WKD", "Weekend", 180, 1200),
    ("EVC", "Charging bay", 400, 3200),
    ("RES", "Resident", 50, 400),
]
CODES, POPULAR = ["MKT", "RIV", "STN", "HOS", "AIR", "OPR"], [24, 18, 27, 9, 13, 9]


def write(name: str, columns: str, rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns.split())
        writer.writerows(rows)


def people(chance: random.Random) -> None:
    garages = "garage_code garage_name city kind spaces charging_points has_barrier opened_on"
    write("garages", garages, GARAGES)
    write("tariffs", "tariff_code tariff_name hourly_cents daily_cap_cents", TARIFFS)

    first = ["Ana", "Boris", "Chloe", "Deniz", "Ella", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Kira", "Leo", "Mona"]
    customers = []
    for n in range(1, 76):
        town = None if n % 16 == 0 else chance.choice(["Weston", "Harlow Bay", "Linden", "Oak Hill", "Brockton"])
        segment = chance.choices(["P", "B", "R", "G"], [50, 22, 20, 8])[0]
        since = date(2019, 1, 1) + timedelta(days=chance.randrange(2300))
        name = f"{first[n % 13]} {'KLMNOPRSTVW'[n // 4 % 11]}."
        customers.append(
            (500 + n, name, segment, town, since, chance.random() < 0.6, chance.choice([0, 1, 1, 1, 2, 3]))
        )
    write("customers", "customer_id customer_name segment town signed_up_on uses_app vehicles", customers)

    permits = []
    for n in range(1, 91):
        starts = date(2023, 6, 1) + timedelta(days=chance.randrange(700))
        kind = chance.choices(["M", "A", "N", "H"], [50, 25, 15, 10])[0]
        fee = {"M": 9500, "A": 7900, "N": 4500, "H": 3000}[kind] + chance.choice([0, 0, 500, 1500])
        ends = None if chance.random() < 0.45 else starts + timedelta(days=chance.choice([90, 180, 365, 365]))
        cancelled = starts + timedelta(days=chance.randrange(20, 80)) if chance.random() < 0.12 else None
        garage = chance.choices(CODES, POPULAR)[0]
        permits.append((3000 + n, 501 + chance.randrange(60), garage, kind, starts, ends, fee, cancelled))
    write("permits", "permit_id customer_id garage_code kind starts_on ends_on monthly_fee_cents cancelled_on", permits)


def traffic(chance: random.Random) -> None:
    parkings: list[tuple[Any, ...]] = []
    payments: list[tuple[Any, ...]] = []
    prices = {code: (hour, cap) for code, _, hour, cap in TARIFFS} | {"OLD": (200, 1600)}
    for day in range(DAYS):
        at = BEGIN + timedelta(days=day)
        if day in QUIET:
            continue
        weekend = at.weekday() >= 5
        for _ in range(chance.randrange(3, 9) if weekend else chance.randrange(6, 15)):
            entered = at + timedelta(minutes=int(chance.triangular(5 * 60, 24 * 60 - 1, 10 * 60)))
            garage = chance.choices(CODES, POPULAR)[0]
            stay = int(chance.expovariate(1 / (1500 if garage == "AIR" else 160))) + chance.randrange(4, 20)
            leaves = entered + timedelta(minutes=stay)
            left = None if chance.random() < 0.03 or leaves >= BEGIN + timedelta(days=DAYS) else leaves
            how = chance.choices(["T", "A", "C", "P"], [40, 28, 17, 15])[0]
            known = how in {"A", "P"} or (how == "C" and chance.random() < 0.5)
            customer = 500 + min(int(chance.paretovariate(0.7)), 79) if known else None
            vehicle = chance.choices(["C", "V", "M", "E", None], [60, 13, 8, 16, 3])[0]
            tariff = "RES" if how == "P" else "EVC" if vehicle == "E" else "WKD" if weekend else "STD"
            tariff = "EVE" if entered.hour >= 18 and tariff in {"STD", "WKD"} else tariff
            tariff = "OLD" if day < 9 and chance.random() < 0.1 else tariff
            number = 70000 + len(parkings)
            parkings.append((number, garage, customer, vehicle, entered, left, tariff, how, chance.randrange(-3, 6)))
            if left and how != "P":
                hour, cap = prices[tariff]
                due = min((stay + 59) // 60 * hour, (stay // 1440 + 1) * cap)
                means = "APP" if how == "A" else chance.choices(["CARD", "CASH", "INV"], [60, 30, 10])[0]
                paid = left - timedelta(minutes=chance.randrange(1, 4))
                if chance.random() < 0.06:
                    payments.append((number, paid - timedelta(minutes=1), due, means, "F"))
                if chance.random() < 0.97:
                    payments.append((number, paid, due, means, "R" if chance.random() < 0.03 else "S"))
    columns = "parking_id garage_code customer_id vehicle entered_at left_at tariff_code entry_method level"
    write("parkings", columns, parkings)
    payments.sort(key=lambda one: one[1])
    numbered = [(n + 1, *one) for n, one in enumerate(payments)]
    write("payments", "payment_id parking_id paid_at amount_cents means status", numbered)


def trouble(chance: random.Random) -> None:
    incidents = []
    for n in range(1, 161):
        reported = BEGIN + timedelta(days=chance.randrange(DAYS), minutes=chance.randrange(24 * 60))
        solved = None if chance.random() < 0.09 else reported + timedelta(minutes=int(chance.expovariate(1 / 700)) + 15)
        kind = chance.choices(["BAR", "MAC", "DMG", "VAN", "LFT"], [30, 26, 18, 12, 14])[0]
        cost = None if solved is None or chance.random() < 0.2 else chance.choice([0, 4500, 8000, 12500, 30000, 76000])
        garage = "P99" if n % 60 == 0 else chance.choices(CODES, [20, 20, 20, 14, 14, 12])[0]
        incidents.append((garage, kind, chance.choice([1, 1, 2, 2, 3]), reported, solved, cost, chance.random() < 0.3))
    incidents.sort(key=lambda one: one[3])
    columns = "incident_id garage_code kind severity reported_at solved_at repair_cents reported_by_customer"
    write("incidents", columns, [(n + 1, *one) for n, one in enumerate(incidents)])


def main() -> None:
    chance = random.Random(57)
    people(chance)
    traffic(chance)
    trouble(chance)


if __name__ == "__main__":
    main()
