"""Makes the data of the coffee roastery: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = datetime(2026, 3, 1)
DAYS = 122
COFFEES = [
    ("YIR", "Yirga", "ETH", "LIG", "false", "true", 34.0, date(2023, 2, 1)),
    ("SID", "Sidama", "ETH", "MED", "false", "false", 31.0, date(2024, 5, 1)),
    ("SAN", "Santos", "BRA", "DRK", "false", "false", 24.0, date(2021, 1, 15)),
    ("NAP", "Nero", "BRA", "DRK", "false", "true", 26.5, date(2022, 9, 1)),
    ("HUI", "Huila", "COL", "MED", "false", "true", 29.0, date(2022, 3, 1)),
    ("NOC", "Notte", "COL", "MED", "true", "true", 32.0, date(2024, 1, 10)),
    ("DEC", "Calma", "BRA", "LIG", "true", "false", 28.0, date(2023, 7, 1)),
    ("MAL", "Malabar", "IND", "DRK", "false", "false", 27.0, date(2025, 11, 1)),
    ("NEW", "Primo", "ETH", "LIG", "false", "true", 38.0, date(2026, 6, 25)),
]
PEOPLE = ["Anselm", "Birte", "Coskun"]


def write(name: str, columns: str, rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns.split())
        writer.writerows(rows)


def text(flag: bool) -> str:
    return "true" if flag else "false"


def moment(chance: random.Random, first: int, last: int) -> datetime:
    return BEGIN + timedelta(
        days=chance.randrange(DAYS), hours=chance.randint(first, last), minutes=chance.randrange(60)
    )


def roasts(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(1, 401):
        drum = chance.choice([1, 1, 2, 3])
        green = round(chance.uniform(0.5, 1) * {1: 15, 2: 30, 3: 5}[drum], 1)
        bad = chance.random() < 0.06
        rows.append(
            (
                n,
                chance.choice(COFFEES[:8])[0],
                drum,
                chance.choice(PEOPLE),
                moment(chance, 6, 15),
                round(chance.uniform(9.5, 16.5), 1),
                green,
                round(green * chance.uniform(0.79, 0.89), 2),
                None if chance.random() < 0.3 else round(chance.uniform(60, 75) if bad else chance.uniform(76, 91), 1),
                text(bad),
            )
        )
    return rows


def customers(chance: random.Random) -> list[tuple[Any, ...]]:
    names = ["Bar Centrale", "Kiosk Eck", "Lex Office", "Familie Huber", "Cafe Mozart", "Bio Laden", "Studio 9"]
    names += ["Herr Wolf", "Cafe Sperber", "Feinkost Lang", "Hub West", "Frau Adam", "Cafe Linde", "Markthalle"]
    kinds = ["CAF", "SHP", "OFF", "PRI", "CAF", "SHP", "OFF", "PRI", "CAF", "SHP", "OFF", "PRI", "CAF", "SHP"]
    return [
        (
            300 + n,
            names[n],
            kinds[n],
            ["Graz", "Linz", "Graz", "Wien", None][n % 5],
            [None, 5.0, 10.0, None][n % 4],
            date(2022, 1, 1) + timedelta(days=chance.randrange(1400)),
        )
        for n in range(14)
    ]


def orders(chance: random.Random) -> list[tuple[Any, ...]]:
    prices = {row[0]: row[6] for row in COFFEES}
    rows: list[tuple[Any, ...]] = []
    for n in range(1, 361):
        code = chance.choice(COFFEES[:8])[0]
        customer = chance.choices(range(300, 313), weights=[5, 4, 4, 1, 6, 4, 2, 1, 5, 3, 2, 1, 4])[0]
        at = moment(chance, 7, 21)
        at = at.replace(month=3) if customer in {303, 311} and at.month > 4 else at
        kg = chance.choice([0.5, 1.0, 2.0, 5.0, 7.5, 10.0, 15.0])
        sent = at + timedelta(hours=chance.randint(5, 130)) if chance.random() < 0.9 else None
        paid = (sent + timedelta(days=chance.randint(0, 40))).date() if sent and chance.random() < 0.85 else None
        rows.append(
            (
                n,
                customer,
                code,
                at,
                chance.choice(["WEB", "WEB", "TEL", "REP"]),
                kg,
                round(kg * prices[code] * chance.uniform(0.88, 1), 2),
                sent,
                paid,
            )
        )
    return rows


def bar_sales(chance: random.Random) -> list[tuple[Any, ...]]:
    price = {"ESP": 2.2, "CAP": 3.6, "FIL": 3.1}
    rows: list[tuple[Any, ...]] = []
    for n in range(1, 701):
        drink = chance.choice(["ESP", "ESP", "CAP", "CAP", "CAP", "FIL"])
        rows.append(
            (
                n,
                moment(chance, 8, 17),
                drink,
                chance.choice(["YIR", "SAN", "NAP", "HUI", "DEC", None]),
                chance.choices([1, 2, 3, 4], weights=[9, 6, 2, 1])[0],
                price[drink],
                text(chance.random() < 0.4),
                chance.choice(["Dana", "Emil", "Flora", "Gus"]),
            )
        )
    return rows


def main() -> None:
    chance = random.Random(83)
    write("coffees", "coffee_code coffee_name origin degree decaf organic price_kg_eur listed_on", COFFEES)
    drums = [
        (1, "Probat", 15.0, date(2016, 4, 1), date(2026, 2, 3)),
        (2, "Giesen", 30.0, date(2020, 10, 12), date(2025, 8, 20)),
        (3, "Probat", 5.0, date(2011, 3, 5), None),
        (4, "Diedrich", 12.0, date(2026, 6, 1), date(2025, 12, 1)),
    ]
    write("drums", "drum_no maker capacity_kg bought_on last_service_on", drums)
    write(
        "roasts",
        "roast_no coffee_code drum_no roasted_by started_at minutes green_kg roasted_kg cup_score discarded",
        roasts(chance),
    )
    write("customers", "customer_no customer_name customer_kind city discount_percent since_on", customers(chance))
    write(
        "orders",
        "order_no customer_no coffee_code ordered_at channel kg amount_eur shipped_at paid_on",
        orders(chance),
    )
    write("bar_sales", "sale_no sold_at drink coffee_code cups cup_price_eur takeaway barista", bar_sales(chance))


if __name__ == "__main__":
    main()
