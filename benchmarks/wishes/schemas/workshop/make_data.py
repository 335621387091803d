"""Makes the data of the car repair shop: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2025, 9, 1)
DAYS = 365
MECHANICS: list[tuple[Any, ...]] = [
    (11, "Hanna Weiss", "M", 9800, date(2012, 4, 1), "Bay 1"),
    (12, "Piotr Zielinski", "M", 9400, date(2016, 9, 12), "Bay 2"),
    (13, "Jo Abbott", "Q", 7600, date(2019, 2, 4), "Bay 3"),
    (14, "Selin Aydin", "Q", 7800, date(2020, 6, 15), "Bay 1"),
    (15, "Marc Olivier", "Q", 7600, date(2022, 3, 1), None),
    (16, "Timo Kraft", "T", 3900, date(2024, 9, 1), "Bay 2"),
    (17, "Lea Sand", "T", 3500, date(2026, 8, 15), None),  # has not done a job yet
]
MODELS = {
    "Volkswagen": ["Golf", "Polo", "Passat"],
    "Toyota": ["Yaris", "Corolla"],
    "Renault": ["Clio", "Megane", "Zoe"],
    "Ford": ["Focus", "Fiesta"],
    "Tesla": ["Model 3"],
    "Fiat": ["Panda", "500"],
}
PARTS: list[tuple[Any, ...]] = [
    ("oil filter", "Bremer Parts", 1290),
    ("brake pads", "Stopwell", 6450),
    ("brake disc", "Stopwell", 8900),
    ("tyre", "Rollo Tyres", 9950),
    ("spark plug", "Bremer Parts", 890),
    ("battery", "Voltara", 13900),
    ("wiper blade", "Bremer Parts", 1550),
    ("timing belt", None, 11200),
    ("headlamp", "Voltara", 18700),
    ("air filter", "Bremer Parts", 2150),
]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def customers_and_cars(chance: random.Random) -> list[tuple[Any, ...]]:
    people: list[tuple[Any, ...]] = []
    for n in range(150):
        firm = chance.random() < 0.16
        name = chance.choice(["Baker", "Courier", "Taxi", "Florist"]) + f" Ltd {n}"
        if not firm:
            name = (
                f"{chance.choice(['Ivo', 'Maja', 'Ned', 'Ruth', 'Sam'])} {chance.choice(['Fox', 'Hart', 'Lind'])} {n}"
            )
        town = chance.choices(["Kirchdorf", "Altenau", "Seefeld", "ROSSBACH", None], [45, 25, 16, 10, 4])[0]
        since = date(2009, 3, 2) + timedelta(days=chance.randrange(6200))
        found = chance.choices(["REC", "WEB", "AD", "OLD", None], [35, 30, 12, 18, 5])[0]
        people.append((2000 + n, name, firm, town, since, found))
    write("customers", ["cust_no", "cust_name", "is_company", "town", "cust_since", "found_us"], people)
    cars: list[tuple[Any, ...]] = []
    for n in range(190):
        make = chance.choices(list(MODELS), [30, 18, 20, 16, 4, 12])[0]
        model = chance.choice(MODELS[make])
        fuel = chance.choices(["P", "D", "H"], [58, 32, 10])[0]
        fuel = "E" if model in {"Zoe", "Model 3"} else fuel
        built = None if chance.random() < 0.04 else chance.randrange(2004, 2026)
        owner = None if chance.random() < 0.03 else 2000 + min(int(chance.expovariate(0.02)), 144)
        due = None if chance.random() < 0.06 else date(2026, 3, 31) + timedelta(days=30 * chance.randrange(26))
        cars.append(
            (f"KD-{chance.choice('ABCEFH')}{chance.choice('KLMNP')} {100 + n}", make, model, fuel, built, owner, due)
        )
    write("cars", ["plate", "make", "model", "fuel", "built_year", "cust_no", "inspection_due"], cars)
    return cars


def jobs(chance: random.Random, cars: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        holiday = date(2025, 12, 22) <= day <= date(2026, 1, 4)
        if holiday or day.weekday() == 6 or (day.weekday() == 5 and chance.random() < 0.5):
            continue
        for _ in range(chance.randrange(1, 5) + (2 if day.month in {10, 4} else 0)):
            car = chance.choices(cars[:176], [1 + (n % 7) for n in range(176)])[0]
            tyres = 40 if day.month in {10, 11, 3, 4} else 6
            kind = chance.choices(["SRV", "BRK", "TYR", "ENG", "BOD", "INS"], [30, 16, tyres, 10, 12, 18])[0]
            came = datetime(day.year, day.month, day.day, chance.randrange(7, 17), chance.choice([0, 15, 30, 45]))
            state = chance.choices(["C", "X"], [94, 6])[0]
            days = chance.choices([0, 1, 2, 4, 9], [40, 30, 15, 10, 5])[0]
            gone = came + timedelta(days=days, hours=chance.randrange(2, 9))
            if state == "C" and gone.date() > date(2026, 8, 31 if chance.random() < 0.4 else 21):
                state = chance.choice(["W", "P", "P", "R", "R"])
            usual = {"SRV": 75, "BRK": 110, "TYR": 40, "ENG": 240, "BOD": 200, "INS": 50}[kind]
            minutes = round(usual * chance.uniform(0.6, 1.7) / 5) * 5 if state in "CR" else None
            who = chance.choices(MECHANICS[:6], [20, 16, 20, 18, 14, 12])[0] if state != "X" else None
            who = None if state == "W" else who
            labour = round(minutes / 60 * who[3]) if minutes and who else None
            quote = None if chance.random() < 0.3 else round(chance.uniform(60, 900)) * 100
            way = None if chance.random() < 0.05 else chance.randrange(8_000, 240_000)
            warranty = chance.random() < 0.08
            rows.append((car[0], who[0] if who else None, kind, came, gone if state == "C" else None, way, minutes))
            rows[-1] += (0 if warranty and labour else labour, quote, state, warranty)
    rows.sort(key=lambda one: (one[3], one[0], one[2]))
    columns = ["plate", "mech_no", "kind", "brought_in_at", "picked_up_at", "odometer_km", "labour_min"]
    columns += ["labour_cents", "quote_cents", "status", "is_warranty"]
    numbered = [(n + 5001, *one) for n, one in enumerate(rows)]
    write("jobs", ["job_no", *columns], numbered)
    parts_and_invoices(chance, numbered)


def parts_and_invoices(chance: random.Random, done: list[tuple[Any, ...]]) -> None:
    fitted: list[tuple[Any, ...]] = []
    bills: list[tuple[Any, ...]] = []
    usual = {"SRV": [0, 4, 6, 9], "BRK": [1, 2], "TYR": [3], "ENG": [4, 5, 7, 9], "BOD": [8, 6], "INS": [6]}
    for job in done:
        number, kind, left, labour, state = job[0], job[3], job[5], job[8], job[10]
        if state not in "CR":
            continue
        total = labour or 0
        for place in sorted(chance.sample(usual[kind], chance.randrange(0, len(usual[kind]) + 1))):
            name, supplier, price = PARTS[place]
            count = 4 if name == "tyre" else chance.choice([1, 1, 2])
            each = round(price * chance.choice([1, 1, 1, 1.1]))
            fitted.append((number, name, supplier, count, each))
            total += count * each
        if left and total:
            issued = left.date() + timedelta(days=chance.randrange(0, 4))
            due = issued + timedelta(days=14)
            late = chance.choices([0, 5, 13, 20, 45], [25, 25, 25, 15, 10])[0]
            paid = issued + timedelta(days=late)
            paid = None if paid > date(2026, 8, 31) or chance.random() < 0.04 else paid
            sort = chance.choices(["CARD", "CASH", "BANK"], [50, 15, 35])[0] if paid else None
            bills.append((number, issued, due, total, paid, sort, 0 if late < 15 else chance.choice([1, 1, 2])))
    write("fitted_parts", ["job_no", "part", "supplier", "qty", "price_cents"], fitted)
    bills.sort(key=lambda one: (one[1], one[0]))
    columns = ["job_no", "issued_on", "due_on", "total_cents", "paid_on", "pay_method", "reminders"]
    write("invoices", ["inv_no", *columns], [(f"R{n + 1:04}", *one) for n, one in enumerate(bills)])


def main() -> None:
    chance = random.Random(8811)
    columns = ["mech_no", "mech_name", "grade", "hourly_rate_cents", "started_on", "bay"]
    write("mechanics", columns, MECHANICS)
    jobs(chance, customers_and_cars(chance))


if __name__ == "__main__":
    main()
