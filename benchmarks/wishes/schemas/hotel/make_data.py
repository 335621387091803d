"""Makes the data of the hotel: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2025, 1, 2)
DAYS = 178
CLOSED = range(38, 44)  # days without arrivals
CHANNELS = [
    ("DIR", "Own website", 0.0, True),
    ("BKG", "RoomFinder", 15.0, True),
    ("EXP", "TripHub", 18.0, True),
    ("TEL", "Telephone", 0.0, False),
    ("AGY", "Travel agency", 10.0, False),
    ("FAX", "Fax", None, False),
]
COMMENTS = ["Lovely staff", "Too noisy", "Great breakfast", "Bed was hard", "Will come again", None, None]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def moment(day: date, chance: random.Random, first: int, hours: int) -> datetime:
    return datetime(day.year, day.month, day.day, first) + timedelta(minutes=chance.randrange(hours * 60))


def house(chance: random.Random) -> list[tuple[Any, ...]]:
    write("channels", ["channel_code", "channel_name", "commission_pct", "is_online"], CHANNELS)

    rooms: list[tuple[Any, ...]] = []
    for floor in range(1, 5):
        for n in range(1, 9):
            kind = ["SGL", "DBL", "DBL", "DBL", "TWN", "FAM", "DBL", "STE"][n - 1]
            beds = {"SGL": 1, "DBL": 1, "TWN": 2, "FAM": 3, "STE": 2}[kind]
            rate = {"SGL": 7900, "DBL": 11900, "TWN": 10900, "FAM": 15900, "STE": 24900}[kind] + 500 * (floor - 1)
            new = None if n == 3 else date(2014 + chance.randrange(10), chance.randrange(1, 13), 1)
            rooms.append((f"{floor}0{n}", floor, kind, beds, rate, n % 3 == 0, new))
    rooms.append(("501", 5, "STE", 2, None, True, date(2024, 11, 1)))
    write("rooms", ["room_no", "floor", "kind", "beds", "rate_cents", "has_balcony", "renovated_on"], rooms)
    return rooms


def people(chance: random.Random) -> None:
    first = ["Ada", "Bela", "Chiara", "Dov", "Elif", "Femi", "Gita", "Hana", "Ivo", "Jo", "Kofi", "Lea", "Mats", "Noor"]
    last = ["Abel", "Baker", "Costa", "Dahl", "Eriksen", "Fontana", "Gruber", "Hoang", "Ito", "Jung", "Kovacs"]
    countries = ["Italy", "France", "Norway", "Japan", "germany", "Spain", None]
    guests = []
    for n in range(1, 121):
        country = chance.choices(countries, [28, 22, 14, 8, 18, 7, 3])[0]
        tier = chance.choices(["N", "S", "G", "P"], [60, 22, 13, 5])[0]
        birth = None if n % 17 == 0 else date(1940, 1, 1) + timedelta(days=chance.randrange(23500))
        joined = date(2019, 1, 1) + timedelta(days=chance.randrange(2200))
        guests.append((n, f"{chance.choice(first)} {chance.choice(last)}", country, tier, birth, joined, n % 5 < 2))
    write("guests", ["guest_id", "guest_name", "country", "tier", "birth_date", "joined_on", "newsletter"], guests)


def reservations(chance: random.Random, rooms: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    bookings = []
    for day in range(DAYS):
        if day in CLOSED:
            continue
        arrive = BEGIN + timedelta(days=day)
        for _ in range(chance.choice([1, 2, 3, 4, 5]) + (2 if arrive.weekday() >= 4 else 0)):
            booked = moment(arrive - timedelta(days=min(int(chance.expovariate(1 / 25)), 150)), chance, 0, 24)
            room = rooms[min(int(chance.triangular(0, 31, 6)), 30)]
            nights = chance.choices([1, 2, 3, 4, 7, 14], [25, 32, 20, 10, 9, 4])[0]
            status = chance.choices(["OUT", "CXL", "NOS"], [80, 14, 6])[0]
            status = "CNF" if day > 168 and status == "OUT" else status
            rate = room[4] + chance.choice([0, 0, -1000, -2000, 1500])
            guest = None if chance.random() < 0.02 else min(int(chance.paretovariate(0.6)) + chance.randrange(30), 110)
            channel = chance.choices([one[0] for one in CHANNELS[:5]], [30, 30, 15, 15, 10])[0]
            children = chance.choices([0, 1, 2, None], [60, 15, 15, 10])[0]
            adults = chance.choice([1, 2, 2, 2, 3])
            leave = arrive + timedelta(days=nights)
            bookings.append((booked, guest, room[0], channel, arrive, leave, status, rate * nights, adults, children))
    bookings.sort(key=lambda one: one[0])
    columns = ["guest_id", "room_no", "channel_code", "booked_at", "check_in", "check_out", "status", "price_cents"]
    rows = [(3000 + n, *one[1:4], one[0], *one[4:]) for n, one in enumerate(bookings)]
    write("bookings", ["booking_id", *columns, "adults", "children"], rows)
    return rows


def money_and_opinions(chance: random.Random, bookings: list[tuple[Any, ...]]) -> None:
    payments: list[tuple[Any, ...]] = []
    reviews: list[tuple[Any, ...]] = []
    for number, _, _, _, _, _, leave, status, price, *_ in bookings:
        if status in {"OUT", "NOS"} and chance.random() < 0.93:
            parts = [price] if chance.random() < 0.75 else [price // 2, price - price // 2]
            for part in parts:
                paid = moment(leave - timedelta(days=chance.randrange(0, 12) if len(parts) > 1 else 0), chance, 6, 17)
                method = chance.choices(["CARD", "CASH", "WIRE", "VOUCH"], [62, 14, 18, 6])[0]
                payments.append((paid, number, part, method, False))
            if chance.random() < 0.06:
                back = moment(leave + timedelta(days=chance.randrange(1, 9)), chance, 8, 9)
                payments.append((back, number, chance.choice([2500, 5000, price // 2]), "CARD", True))
        if status == "OUT" and chance.random() < 0.45:
            posted = moment(leave + timedelta(days=chance.randrange(0, 15)), chance, 7, 16)
            stars = chance.choices([1, 2, 3, 4, 5, None], [5, 8, 17, 35, 33, 2])[0]
            reviews.append((posted, number, stars, chance.choice(COMMENTS)))
    payments.sort(key=lambda one: one[0])
    reviews.sort(key=lambda one: one[0])
    rows: list[tuple[Any, ...]] = [(n + 1, one[1], one[0], *one[2:]) for n, one in enumerate(payments)]
    write("payments", ["payment_id", "booking_id", "paid_at", "amount_cents", "method", "is_refund"], rows)
    rows = [(n + 1, one[1], one[0], *one[2:]) for n, one in enumerate(reviews)]
    write("reviews", ["review_id", "booking_id", "posted_at", "stars", "comment"], rows)


def main() -> None:
    chance = random.Random(31)
    rooms = house(chance)
    people(chance)
    money_and_opinions(chance, reservations(chance, rooms))


if __name__ == "__main__":
    main()
