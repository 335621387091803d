"""Makes the data of the brewery: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEERS: list[tuple[Any, ...]] = [
    ("HELL", "Helles", "LAG", 4.9, False, date(2016, 4, 2)),
    ("PILS", "Old Mill Pilsner", "LAG", 5.1, False, date(2016, 4, 2)),
    ("RYE", "Rye Fox", "IPA", 6.4, False, date(2018, 9, 14)),
    ("HAZE", "Morning Haze", "IPA", 5.8, False, date(2021, 3, 1)),
    ("OAT", "Oatmeal Night", "STO", 5.5, True, date(2019, 10, 20)),
    ("IMP", "Black Abbot", "STO", 9.2, True, date(2022, 11, 5)),
    ("WEIS", "White Cloud", "WHE", 5.0, False, date(2017, 5, 12)),
    ("SOUR", "Cherry Sour", None, 4.2, True, date(2024, 6, 1)),
    ("ZERO", "Free Rider", "LAG", 0.4, False, date(2025, 8, 30)),
]
BREWERS: list[tuple[Any, ...]] = [
    (1, "Marta Lindt", "H", date(2016, 1, 4), None),
    (2, "Jonas Pfau", "S", date(2017, 3, 1), None),
    (3, "Ilse Kern", "S", date(2019, 8, 12), date(2026, 3, 31)),
    (4, "Pavel Dusek", "A", date(2023, 2, 1), None),
    (5, "Nora Quist", "A", date(2025, 9, 1), None),
]
TANKS: list[tuple[Any, ...]] = [
    (1, "Old Cellar", 2000, date(2015, 11, 2), date(2026, 6, 3)),
    (2, "Old Cellar", 2000, date(2015, 11, 2), date(2026, 5, 20)),
    (3, "Old Cellar", 1000, date(2017, 6, 15), None),
    (4, "New Hall", 4000, date(2021, 1, 20), date(2026, 6, 18)),
    (5, "New Hall", 4000, date(2021, 1, 20), date(2026, 4, 9)),
    (6, "New Hall", 500, date(2024, 3, 8), date(2026, 6, 1)),
    (7, "New Hall", 4000, date(2026, 5, 30), None),
]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def batches(chance: random.Random) -> None:
    rows = []
    day = date(2025, 7, 1)
    number = 410
    while day < date(2026, 6, 26):
        if day.weekday() < 5 and chance.random() < 0.55:
            beer = chance.choices(BEERS[:8], [22, 18, 14, 12, 8, 3, 14, 4])[0][0]
            tank, _hall, capacity, *_ = chance.choice(TANKS[:6])
            volume = round(capacity * chance.choice([0.7, 0.8, 0.9, 0.9, 1.0]))
            able = [one[0] for one in BREWERS if one[3] <= day and (one[4] is None or day <= one[4])]
            who = None if chance.random() < 0.03 else chance.choice(able)
            state = chance.choices(["B", "D"], [93, 7])[0] if day < date(2026, 5, 28) else "F"
            bottled = day + timedelta(days=chance.randrange(14, 45)) if state == "B" else None
            malt = None if chance.random() < 0.04 else round(volume * chance.uniform(0.17, 0.26))
            score = chance.randrange(4, 11) if bottled and chance.random() < 0.8 else None
            rows.append((number, beer, tank, who, day, bottled, volume, malt, state, score))
            number += 1
        day += timedelta(days=1)
    columns = ["batch_no", "beer_code", "tank_no", "brewer_id", "brewed_on", "bottled_on", "volume_l", "malt_kg"]
    write("batches", [*columns, "status", "taste_score"], rows)


def sales(chance: random.Random) -> None:
    people = []
    first = ["Golden", "Blue", "Red", "Quiet", "Crooked", "Royal"]
    last = {
        "PUB": ["Anchor", "Lion", "Bell"],
        "SHOP": ["Bottle", "Cellar"],
        "REST": ["Table", "Kitchen"],
        "FEST": ["Fair"],
    }
    for n in range(64):
        kind = chance.choices(["PUB", "SHOP", "REST", "FEST"], [45, 30, 18, 7])[0]
        name = f"{chance.choice(first)} {chance.choice(last[kind])} {n + 1}"
        town = chance.choice(["Arnfeld", "Arnfeld", "Bad Holm", "Steinach", "Neumark", None])
        since = date(2016, 5, 1) + timedelta(days=chance.randrange(3650))
        limit = None if chance.random() < 0.15 else chance.choice([500, 1000, 1000, 2500, 5000])
        people.append((3000 + n, name, kind, town, since, limit))
    columns = ["customer_no", "customer_name", "kind", "town", "customer_since", "credit_limit_eur"]
    write("customers", columns, people)
    price = {"LAG": 1480, "IPA": 2190, "STO": 2390, "WHE": 1650, None: 2790}
    rows: list[tuple[Any, ...]] = []
    shut = {date(2026, 1, 1), date(2026, 4, 3), date(2026, 4, 6), date(2026, 5, 1)}
    for n in range(178):
        day = date(2026, 1, 1) + timedelta(days=n)
        if day in shut or day.weekday() == 6:
            continue
        for _ in range(chance.randrange(4, 13)):
            customer = 3099 if chance.random() < 0.01 else 3000 + min(int(chance.expovariate(0.06)), 59)
            beer = chance.choices(BEERS, [24, 20, 14, 12, 8, 3, 14, 4, 0])[0]
            crates = chance.choice([1, 2, 4, 5, 5, 10, 10, 20, 40])
            at = datetime(day.year, day.month, day.day, chance.randrange(7, 19), chance.randrange(60))
            amount = round(crates * price[beer[2]] * chance.choice([1, 1, 1, 0.95, 0.9]))
            delivered = day + timedelta(days=chance.randrange(0, 9))
            gone = None if delivered > date(2026, 6, 27) or chance.random() < 0.02 else delivered
            paid = None if gone is None or chance.random() < 0.12 else day + timedelta(days=chance.randrange(3, 50))
            paid = None if paid and paid > date(2026, 6, 30) else paid
            channel = chance.choices(["TEL", "WEB", "REP", None], [40, 38, 20, 2])[0]
            rows.append((customer, beer[0], at, crates, amount, channel, gone, paid))
    rows.sort(key=lambda one: (one[2], one[0], one[1], one[3]))
    columns = ["order_no", "customer_no", "beer_code", "ordered_at", "crates", "amount_cents", "channel"]
    write("orders", [*columns, "delivered_on", "paid_on"], [(n + 70001, *one) for n, one in enumerate(rows)])


def main() -> None:
    chance = random.Random(4711)
    write("beers", ["beer_code", "beer_name", "style", "alcohol_pct", "is_seasonal", "first_brewed_on"], BEERS)
    write("brewers", ["brewer_id", "brewer_name", "level", "hired_on", "left_on"], BREWERS)
    write("tanks", ["tank_no", "hall", "capacity_l", "bought_on", "last_cleaned_on"], TANKS)
    batches(chance)
    sales(chance)


if __name__ == "__main__":
    main()
