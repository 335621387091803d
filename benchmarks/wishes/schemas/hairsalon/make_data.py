"""Makes the data of the hair salon: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2025, 12, 1)
LAST = date(2026, 10, 31)
CLOSED = (date(2026, 8, 3), date(2026, 8, 16))  # the salon's holidays
Row = tuple[Any, ...]
SERVICES: list[Row] = [
    (1, "Dry Cut", "CUT", 28.0, 30, None),
    (2, "Wash & Cut", "CUT", 42.5, 45, None),
    (3, "children's cut", "CUT", 18.0, 20, None),
    (4, "Full Colour", "COL", 79.9, 105, None),
    (5, "Highlights", "COL", 94.0, 120, None),
    (6, "Root Touch-up", "COL", 55.0, 75, None),
    (7, "Soft Perm", "PRM", 88.0, 130, date(2026, 5, 31)),
    (8, "Deep Care", "CAR", 24.5, 20, None),
    (9, "Scalp Ritual", "CAR", None, 40, None),  # has not been booked, and has no price yet
]
STYLISTS: list[Row] = [
    (1, "Amira", "DIR", 1, 12.5, date(2016, 4, 1), None),
    (2, "Ben", "SEN", 2, 10.0, date(2019, 9, 2), None),
    (3, "Chloe", "SEN", 3, 10.0, date(2020, 1, 13), date(2026, 6, 30)),
    (4, "dario", "JUN", 4, 6.0, date(2024, 8, 1), None),
    (5, "Ewa", "JUN", None, None, date(2025, 8, 1), None),
    (6, "Finn", "SEN", 5, 8.5, date(2022, 3, 7), None),
    (7, "Greta", "JUN", None, None, date(2026, 10, 26), None),  # has not served a client yet
]
PRODUCTS: list[Row] = [
    ("Shampoo 250", "Oakleaf", 9.95),
    ("Shampoo 1000", "Oakleaf", 24.95),
    ("Hair Mask", "Lumi", 17.5),
    ("Sea Salt Spray", "Lumi", 13.0),
    ("Wax", "BARBER CO", 11.49),
    ("Round Brush", None, 15.0),
]
FIRST = ["Ada", "Bo", "Cleo", "Dan", "Eva", "Femi", "Gil", "Hope", "Ida", "Jon", "Kaya", "Leo"]
FAMILY = ["Abbott", "Brandt", "Costa", "O'Neill", "dupont", "Evans", "Fox", "Gray"]


def write(name: str, columns: list[str], rows: list[Row]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def open_days() -> list[date]:
    days = [BEGIN + timedelta(days=n) for n in range((LAST - BEGIN).days + 1)]
    return [day for day in days if day.weekday() not in {0, 6} and not CLOSED[0] <= day <= CLOSED[1]]


def clients(chance: random.Random) -> list[Row]:
    rows: list[Row] = []
    for n in range(90):
        born = None if chance.random() < 0.15 else date(1946, 1, 1) + timedelta(days=chance.randrange(25000))
        hair = chance.choice(["FIN", "THK", "CUR", None])
        first = date(2021, 1, 5) + timedelta(days=chance.randrange(1750))
        referred = chance.randrange(1, n + 1) if n > 5 and chance.random() < 0.3 else None
        name = f"{FIRST[n % 12]} {FAMILY[chance.randrange(8)]}"
        rows.append((n + 1, name, born, hair, chance.choice([True, False, False, None]), first, referred))
    return rows


def appointments(chance: random.Random) -> None:
    rows: list[Row] = []
    for day in open_days():
        for _ in range(chance.randrange(2, 9)):
            stylist = chance.choices([1, 2, 3, 4, 5, 6], [14, 22, 18, 20, 8, 18])[0]
            if stylist == 3 and day > date(2026, 6, 30):
                stylist = 2
            service = SERVICES[chance.choices(range(8), [18, 26, 10, 14, 8, 12, 3, 9])[0]]
            if service[5] and day > service[5]:
                service = SERVICES[0]
            start = datetime(day.year, day.month, day.day, chance.randrange(9, 18), chance.choice([0, 15, 30, 45]))
            rows.append(appointment(chance, stylist, service, start))
    rows.sort(key=lambda row: (row[4], row[1], row[0] or 0))
    columns = ["appointment_no", "client_id", "stylist_id", "service_id", "booked_at", "starts_at", "ended_at"]
    columns += ["state", "came_via", "paid_pence", "tip_pence", "paid_with"]
    write("appointments", columns, [(20001 + n, *row) for n, row in enumerate(rows)])


def appointment(chance: random.Random, stylist: int, service: Row, start: datetime) -> Row:
    via = chance.choices(["WEB", "TEL", "WLK"], [50, 32, 18])[0]
    ahead = timedelta() if via == "WLK" else timedelta(hours=chance.randrange(2, 700))
    client = None if via == "WLK" and chance.random() < 0.5 else chance.randrange(1, 85)  # the last six have not come
    state = "DON" if via == "WLK" else chance.choices(["DON", "NSH", "CAN"], [84, 6, 10])[0]
    if state != "DON":
        return (client, stylist, service[0], start - ahead, start, None, state, via, None, None, None)
    end = start + timedelta(minutes=service[4] + chance.randrange(-8, 26))
    paid = round(service[3] * 100 * chance.choice([1, 1, 1, 0.9, 1.15]))
    tip = chance.randrange(100, 900, 50) if chance.random() < 0.45 else None
    with_ = chance.choices(["CRD", "CSH", "VCH"], [62, 30, 8])[0]
    return (client, stylist, service[0], start - ahead, start, end, state, via, paid, tip, with_)


def product_sales(chance: random.Random) -> None:
    rows: list[Row] = []
    for day in open_days():
        for _ in range(chance.choices([0, 1, 2, 3], [25, 35, 25, 15])[0]):
            name, brand, price = PRODUCTS[chance.choices(range(6), [28, 10, 18, 14, 20, 10])[0]]
            pieces = chance.choices([1, 2, 3], [75, 20, 5])[0]
            sold = datetime(day.year, day.month, day.day, chance.randrange(9, 19), chance.randrange(60))
            stylist = chance.choice([1, 2, 4, 5, 6, None])
            client = None if chance.random() < 0.35 else chance.randrange(1, 88)
            back = chance.random() < 0.06
            rows.append((sold, stylist, client, name, brand, pieces, round(price * pieces, 2), back))
    rows.sort(key=lambda row: row[0])
    columns = ["sale_no", "sold_at", "stylist_id", "client_id", "product", "brand", "pieces", "amount_gbp", "returned"]
    write("product_sales", columns, [(5001 + n, *row) for n, row in enumerate(rows)])


def vouchers(chance: random.Random) -> None:
    rows: list[Row] = []
    for n in range(120):
        bought = BEGIN + timedelta(days=int((LAST - BEGIN).days * chance.random() ** 2))
        buyer = None if chance.random() < 0.2 else chance.randrange(1, 91)
        used = bought + timedelta(days=chance.randrange(3, 150)) if chance.random() < 0.6 else None
        used = None if used and used > LAST else used
        expires = None if chance.random() < 0.1 else bought + timedelta(days=365)
        rows.append((f"V{n + 301}", bought, buyer, chance.choice([1500, 2500, 2500, 5000, 7550]), used, expires))
    rows.sort(key=lambda row: row[1])
    write("vouchers", ["voucher_no", "bought_on", "bought_by", "value_pence", "redeemed_on", "expires_on"], rows)


def main() -> None:
    chance = random.Random(361)
    columns = ["stylist_id", "stylist_name", "level", "chair", "commission_pct", "started_on", "left_on"]
    write("stylists", columns, STYLISTS)
    columns = ["service_id", "service_name", "category", "list_price_gbp", "planned_minutes", "withdrawn_on"]
    write("services", columns, SERVICES)
    columns = ["client_id", "client_name", "born_on", "hair", "newsletter", "first_visit_on", "referred_by"]
    write("clients", columns, clients(chance))
    appointments(chance)
    product_sales(chance)
    vouchers(chance)


if __name__ == "__main__":
    main()
