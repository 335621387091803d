"""Makes the data of the wine merchant: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = datetime(2025, 1, 1)

PRODUCERS = [
    (1, "Weingut Kessler", "Germany", "Mosel", "true", date(2009, 3, 12)),
    (2, "Weingut Brandt", "Germany", "Pfalz", "false", date(2015, 6, 1)),
    (3, "Domaine Laurent", "France", "Burgundy", "false", date(2007, 11, 20)),
    (4, "Chateau Merlin", "France", "Bordeaux", "false", date(2012, 2, 9)),
    (5, "Mas des Oliviers", "France", "Languedoc", "true", date(2019, 5, 23)),
    (6, "Cantina Rossetti", "Italy", "Tuscany", "true", date(2010, 9, 14)),
    (7, "Tenuta Bellini", "Italy", "Piedmont", "false", date(2018, 4, 4)),
    (8, "Fattoria del Sole", "Italy", "Sicily", "true", date(2022, 1, 17)),
    (9, "Bodegas Navarro", "Spain", "Rioja", "false", date(2008, 7, 30)),
    (10, "Celler Puig", "Spain", "Penedes", "true", date(2021, 10, 5)),
    (11, "Quinta da Serra", "Portugal", "Douro", "false", date(2016, 3, 3)),
    (12, "Weingut Hofer", "Austria", "Wachau", "false", date(2024, 12, 2)),
]
GRAPES = {
    "RED": ["Pinot Noir", "Merlot", "Sangiovese", "Tempranillo", "Syrah"],
    "WHT": ["Riesling", "Chardonnay", "Sauvignon Blanc"],
    "ROS": ["Pinot Noir", "Syrah"],
    "SPK": ["Chardonnay", "Xarel-lo"],
}
WORDS = ["Alte Reben", "Clos", "Riserva", "Terra", "Collina", "Stein", "Sol", "Luna", "Vent", "Monte", "Lago", "Fiore"]
CITIES = ["Hamburg", "Hamburg", "Bremen", "Hanover", "Kiel", "Luebeck", "Berlin"]
NAMES = {"PRV": "Customer", "RST": "Restaurant", "SHP": "Shop"}
HOSTS = ["Nora Feld", "Pablo Ruiz", "Tim Oster"]
THEMES = ["Wines of Italy", "Riesling", "Sparkling evening", "Cheese and wine", "Bordeaux"]


def write(name: str, columns: str, rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns.split())
        writer.writerows(rows)


def text(flag: bool) -> str:
    return "true" if flag else "false"


def wines(chance: random.Random) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for n in range(1, 73):
        colour = chance.choices(["RED", "WHT", "ROS", "SPK"], [5, 4, 1, 1])[0]
        grape = chance.choice(GRAPES[colour])
        vintage = None if colour == "SPK" else chance.randint(2008, 2024)
        price = round(chance.uniform(6, 60), 1)
        maker = chance.choices(range(1, 13), [9, 5, 6, 4, 5, 8, 5, 3, 6, 4, 3, 2])[0]
        name = f"{chance.choice(WORDS)} {grape} {n}"
        strength = round(chance.uniform(11, 15), 1)
        found.append((n, name, maker, colour, grape, vintage, strength, price, chance.randrange(240)))
    return found


def customers(chance: random.Random) -> list[tuple[Any, ...]]:
    found = []
    for n in range(1, 141):
        kind = chance.choices(["PRV", "RST", "SHP"], [7, 2, 1])[0]
        name = f"{NAMES[kind]} {n:03}"
        day = date(2023, 6, 1) + timedelta(days=chance.randrange(1050))
        found.append((n, name, kind, chance.choice(CITIES), day, text(chance.random() < 0.55)))
    return found


def orders(chance: random.Random) -> list[tuple[Any, ...]]:
    found = []
    for _ in range(520):
        at = BEGIN + timedelta(days=chance.randrange(530), hours=chance.randint(8, 20), minutes=chance.randrange(60))
        way = chance.choices(["WEB", "TEL", "STO"], [6, 2, 3])[0]
        off = chance.random() < 0.07
        paid = at.date() + timedelta(days=chance.randint(0, 30)) if not off and chance.random() < 0.9 else None
        post = 0.0 if way == "STO" else chance.choice([5.9, 8.9, 12.5])
        found.append((min(chance.randint(1, 130), chance.randint(1, 130)), at, way, post, paid, text(off)))
    found.sort(key=lambda row: (row[1], row[0]))
    return [(n, *row) for n, row in enumerate(found, start=1001)]


def order_lines(
    chance: random.Random, bought: list[tuple[Any, ...]], cellar: list[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for order in bought:
        for wine in chance.sample(cellar[:66], chance.randint(1, 4)):
            bottles = chance.choice([1, 2, 3, 6, 6, 12])
            off = round(bottles * wine[7] * chance.choice([0.05, 0.1]), 2) if chance.random() < 0.2 else None
            found.append((len(found) + 1, order[0], wine[0], bottles, wine[7], off))
    return found


def deliveries(chance: random.Random, bought: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for order in bought:
        if order[3] == "STO" or order[6] == "true" or chance.random() < 0.04:
            continue
        day = order[2].date() + timedelta(days=chance.randint(0, 5))
        there = day + timedelta(days=chance.choice([1, 1, 2, 2, 3, 4, 6])) if chance.random() < 0.96 else None
        broken = chance.choice([1, 1, 2, 6]) if there and chance.random() < 0.08 else 0
        carrier = chance.choice(["Nordpost", "Nordpost", "Kurier Hansa", "GoBox"])
        found.append((order[0], carrier, day, there, chance.randint(1, 3), broken))
    found.sort(key=lambda row: (row[2], row[0]))
    return [(n, *row) for n, row in enumerate(found, start=1)]


def tastings(chance: random.Random) -> list[tuple[Any, ...]]:
    found = []
    for n in range(48):
        day = date(2025, 1, 10) + timedelta(days=11 * n)
        places = chance.choice([12, 16, 24])
        cost = round(chance.uniform(90, 420), 2)
        ticket = chance.choice([19.0, 25.0, 35.0])
        theme, host = chance.choice(THEMES), chance.choice(HOSTS)
        found.append((n + 1, day, theme, host, places, chance.randint(4, places), ticket, cost))
    return found


def main() -> None:
    chance = random.Random(2208)
    write("producers", "producer_id producer_name country region organic partner_since", PRODUCERS)
    cellar = wines(chance)
    write(
        "wines",
        "wine_id wine_name producer_id colour grape vintage alcohol_pct bottle_price_eur stock_bottles",
        cellar,
    )
    write("customers", "customer_id customer_name customer_kind city joined_on newsletter", customers(chance))
    bought = orders(chance)
    write("orders", "order_no customer_id ordered_at channel shipping_eur paid_on cancelled", bought)
    write(
        "order_lines",
        "order_line_id order_no wine_id bottles unit_price_eur discount_eur",
        order_lines(chance, bought, cellar),
    )
    write(
        "deliveries",
        "delivery_no order_no carrier shipped_on delivered_on parcels broken_bottles",
        deliveries(chance, bought),
    )
    write("tastings", "tasting_id held_on theme host places guests ticket_eur cost_eur", tastings(chance))


if __name__ == "__main__":
    main()
