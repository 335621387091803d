"""Writes the data of the co-working company: python make_data.py. The same seed gives the same rows."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path

DATA = Path(__file__).parent / "data"
LOCATIONS = (
    ("HAR", "Harbour", "Hamburg", date(2019, 4, 1), 820, False),
    ("ALT", "Altona Works", "Hamburg", date(2022, 9, 1), 540, True),
    ("MIT", "Mitte", "Berlin", date(2017, 2, 1), 1350, False),
    ("SPR", "Spree Loft", "Berlin", date(2023, 6, 15), 610, True),
    ("ISA", "Isar Lab", "Munich", date(2021, 10, 1), 470, True),
)
ROOMS = {
    "HAR": ("Buoy", "Anchor", "Sail"),
    "ALT": ("Forge", "Anvil"),
    "MIT": ("Bear", "Tower", "Linden", "Gate"),
    "SPR": ("Barge", "Bridge"),
    "ISA": ("Raft", "Surf"),
}
FEES = {"FLEX": 149.0, "FULL": 289.0, "TEAM": 990.0, "NIGHT": 89.0}
FIRSTS = ("Ada", "Ben", "Cem", "Dora", "Emil", "Fay", "Gus", "Hana", "Ivo", "Jana")
LASTS = ("Adler", "Bauer", "Celik", "Dietz", "Ernst", "Frey", "Graf", "Holm")
COMPANIES = ("Blue Kite", "Nordbyte", "Papyr", "Quill & Co", "", "", "")


def write(name: str, columns: str, rows: list[tuple[object, ...]]) -> None:
    """Write the rows of one table."""
    with (DATA / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns.split())
        writer.writerows(rows)


def desks(rng: random.Random) -> list[tuple[object, ...]]:
    """Desks of each location, about one for 20 m2."""
    prices = {"HOT": 190, "FIX": 320, "STD": 280}
    rows: list[tuple[object, ...]] = []
    for code, _, _, _, area, _ in LOCATIONS:
        for _ in range(int(area / rng.randint(16, 24))):
            kind = rng.choice(("HOT", "HOT", "FIX", "STD"))
            rows.append(
                (
                    len(rows) + 1,
                    code,
                    kind,
                    prices[kind] + 10 * rng.randint(-3, 5),
                    rng.random() < 0.35,
                    rng.random() < 0.05,
                )
            )
    return rows


def members(rng: random.Random) -> list[tuple[object, ...]]:
    """Eighty members."""
    names = [f"{first} {last}" for first in FIRSTS for last in LASTS]
    rng.shuffle(names)
    joined = sorted(date(2023, 1, 1) + timedelta(days=rng.randint(0, 1150)) for _ in names)
    return [
        (n, name, rng.choice(COMPANIES), rng.choice(("DEV", "DEV", "DES", "CON", "WRI")), day, rng.random() < 0.6)
        for n, (name, day) in enumerate(zip(names, joined, strict=True), 101)
    ]


def memberships(rng: random.Random, people: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """One to three memberships of each member."""
    rows: list[tuple[object, ...]] = []
    for member in people:
        began = member[4]
        for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
            assert isinstance(began, date)
            ended: date | str = began + timedelta(days=rng.randint(28, 500))
            plan = rng.choice(("FLEX", "FLEX", "FULL", "FULL", "NIGHT", "TEAM"))
            if ended > date(2026, 3, 31):  # type: ignore[operator]
                ended = ""
            rows.append(
                (
                    len(rows) + 1,
                    member[0],
                    rng.choice(LOCATIONS)[0],
                    plan,
                    began,
                    ended,
                    FEES[plan],
                    rng.choice((0, 0, 0, 5, 10, 20)),
                )
            )
            began += timedelta(days=rng.randint(20, 300))
            if began > date(2026, 3, 31):
                break
    return rows


def bookings(rng: random.Random) -> list[tuple[object, ...]]:
    """Bookings from July 2025 to March 2026; ten members never book."""
    rows: list[tuple[object, ...]] = []
    for day in range(274):
        start_of_day = datetime(2025, 7, 1) + timedelta(days=day)
        for _ in range(rng.randint(0, 2) if start_of_day.weekday() > 4 else rng.randint(2, 9)):
            code = rng.choice(("HAR", "HAR", "ALT", "MIT", "MIT", "MIT", "SPR", "ISA"))
            room = rng.choice(ROOMS[code])
            hours = rng.choice((0.5, 1.0, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0))
            starts = start_of_day + timedelta(hours=rng.randint(8, 17), minutes=rng.choice((0, 30)))
            made = starts - timedelta(minutes=rng.randint(20, 20000))
            cancelled = rng.random() < 0.12
            no_show = not cancelled and rng.random() < (0.12 if code == "SPR" else 0.05)
            rows.append(
                (
                    len(rows) + 5001,
                    rng.randint(101, 170),
                    code,
                    room,
                    made,
                    starts,
                    hours,
                    rng.randint(2, 14),
                    round(hours * rng.choice((18, 22, 28)), 2),
                    cancelled,
                    no_show,
                )
            )
    return rows


def invoices(rng: random.Random) -> list[tuple[object, ...]]:
    """Invoices of each month from January 2025 to March 2026."""
    rows: list[tuple[object, ...]] = []
    for month in range(15):
        issued = date(2025 + month // 12, month % 12 + 1, 1)
        for member in range(101, 181):
            if rng.random() < 0.45:
                continue
            day = issued + timedelta(days=rng.randint(0, 4))
            paid: date | str = day + timedelta(days=max(1, int(rng.gauss(14, 7))))
            if rng.random() < 0.07:
                paid = ""
            by = rng.choice(("CARD", "BANK", "BANK", "DEBIT")) if paid else ""
            rows.append(
                (
                    len(rows) + 20001,
                    member,
                    day,
                    day + timedelta(days=20),
                    round(rng.choice(list(FEES.values())) * rng.uniform(0.8, 1.3), 2),
                    paid,
                    by,
                )
            )
    return rows


def main() -> None:
    """Write all tables."""
    rng = random.Random(33)
    people = members(rng)
    write("locations", "location_code location_name city opened_on floor_m2 has_parking", list(LOCATIONS))
    write("desks", "desk_no location_code desk_kind monthly_price_eur at_window out_of_use", desks(rng))
    write("members", "member_id member_name company profession joined_on newsletter", people)
    columns = "membership_id member_id location_code plan started_on ended_on monthly_fee_eur discount_pct"
    write("memberships", columns, memberships(rng, people))
    columns = (
        "booking_id member_id location_code room booked_at starts_at hours people price_eur is_cancelled is_no_show"
    )
    write("bookings", columns, bookings(rng))
    write("invoices", "invoice_no member_id issued_on due_on amount_eur paid_on paid_by", invoices(rng))


if __name__ == "__main__":
    main()
