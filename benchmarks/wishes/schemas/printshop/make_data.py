"""Makes the data of the print shop: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = datetime(2026, 1, 12)
DAYS = 160
PRESSES: list[tuple[Any, ...]] = [
    ("H1", "Heidel One", "OFS", "Hall A", date(2014, 3, 3), 142.0),
    ("H2", "Heidel Two", "OFS", "Hall A", date(2019, 8, 19), 155.0),
    ("D1", "Nova Digital", "DIG", "Hall B", date(2022, 1, 10), 61.5),
    ("D2", "Swift", "DIG", "Hall B", date(2024, 6, 3), 58.0),
    ("S1", "Screenmaster", "SCR", "Annex", date(2011, 11, 7), 44.0),
    ("S2", "Old Carousel", "SCR", "Annex", date(2003, 5, 2), 39.0),  # has not run for long
]
PAPERS: list[tuple[Any, ...]] = [
    ("P90", "Everyday 90", 90, "U", True, 1.2),
    ("P115", "Silk 115", 115, "M", False, 2.1),
    ("P135", "Brilliant 135", 135, "G", False, 2.6),
    ("P170", "Brilliant 170", 170, "G", False, 3.4),
    ("P250", "Card 250", 250, "M", False, 5.8),
    ("P300", "Earth 300", 300, "U", True, 6.9),
    ("P400", "Museum 400", 400, "U", False, 14.5),  # not ordered so far
]
PRODUCTS = {"FLY": (2000, 0.05), "BRO": (800, 0.9), "POS": (150, 1.8), "BOK": (400, 5.2), "CRD": (500, 0.12)}
TECHNIQUE = {
    "FLY": ["D1", "D2", "H1"],
    "BRO": ["H1", "H2"],
    "POS": ["S1", "D2"],
    "BOK": ["H2", "H1"],
    "CRD": ["D1", "D2"],
}
OPERATORS = ["Lena Voss", "Marek Zak", "Fatou Diop", "Ole Brandt", None]
MANAGERS = ["Sofia Lindt", "Tariq Aziz", "Hanne Bock"]
FIRST = ["Blue", "Grand", "Lumen", "Terra", "North", "Vista", "Prime", "Rosa", "Delta", "Kite"]
LAST = {"PUB": "Books", "ADV": "Media", "GOV": "Council", "RET": "Stores", "CLB": "Club"}
CITIES = ["Aldby", "Brockton", "Celle", "Dunmore", None]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def clients(chance: random.Random) -> None:
    rows: list[tuple[Any, ...]] = []
    for number in range(1, 71):
        sector = chance.choices(list(LAST), [12, 16, 8, 20, 14])[0]
        since = date(2018, 1, 1) + timedelta(days=chance.randrange(3060))
        discount = chance.choice([2.5, 5.0, 7.5, 10.0, 15.0]) if chance.random() < 0.4 else None
        company = f"{chance.choice(FIRST)} {LAST[sector]} {number}"
        city = chance.choices(CITIES, [9, 7, 5, 4, 1])[0]
        rows.append(
            (number + 300, company, sector, city, since, discount, chance.random() < 0.55, chance.choice(MANAGERS))
        )
    columns = ["client_no", "company", "sector", "city", "client_since", "discount_percent", "gets_newsletter"]
    write("clients", [*columns, "account_manager"], rows)


def orders(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        if day.weekday() > 5:
            continue
        for _ in range(chance.randrange(2, 9)):
            at = day + timedelta(hours=chance.randrange(7, 19), minutes=chance.randrange(60))
            product = chance.choices(list(PRODUCTS), [30, 22, 16, 8, 24])[0]
            usual, price = PRODUCTS[product]
            copies = max(25, round(usual * chance.lognormvariate(0, 0.7) / 25) * 25)
            rush = chance.random() < 0.15
            promised = (at + timedelta(days=1 if rush else chance.randrange(4, 11))).date()
            status = chance.choices(["SHP", "CAN"], [94, 6])[0]
            left = at + timedelta(hours=chance.uniform(8, 40) if rush else chance.uniform(40, 230))
            if left > BEGIN + timedelta(days=DAYS) and status == "SHP":
                status = chance.choice(["NEW", "PRT"])
            paper = chance.choice(["P250", "P300"] if product == "CRD" else ["P90", "P115", "P135", "P170"])
            who = None if chance.random() < 0.04 else 301 + int(66 * chance.random() ** 1.5)
            cost = round(copies * price * chance.uniform(0.8, 1.3) * (1.4 if rush else 1) + 25, 2)
            gone = left.replace(second=0, microsecond=0) if status == "SHP" else None
            channel = "CNT" if who is None else chance.choices(["WEB", "EML", "CNT"], [6, 4, 1])[0]
            rows.append((who, paper, product, at, promised, gone, copies, cost, status, channel, rush))
    rows.sort(key=lambda one: (one[3], one[0] or 0))
    columns = [
        "client_no",
        "paper_code",
        "product",
        "ordered_at",
        "promised_on",
        "shipped_at",
        "copies",
        "net_price_eur",
    ]
    numbered = [(n + 90001, *one) for n, one in enumerate(rows)]
    write("orders", ["order_no", *columns, "order_status", "order_channel", "is_rush"], numbered)
    return numbered


def runs(chance: random.Random, placed: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for number, _who, _paper, product, at, _promised, gone, copies, _cost, status, _channel, _rush in placed:
        if status not in {"SHP", "PRT"}:
            continue
        end = gone or BEGIN + timedelta(days=DAYS)
        for part in range(chance.choices([1, 2, 3], [7, 2, 1])[0]):
            begin = (at + (end - at) * chance.uniform(0.2, 0.4) + timedelta(hours=part)).replace(
                second=0, microsecond=0
            )
            sheets = max(10, copies // chance.randrange(3, 9))
            stop = chance.choice(["JAM", "JAM", "INK", "PLT"]) if chance.random() < 0.1 else None
            waste = int(sheets * chance.uniform(0.01, 0.06)) + (40 if stop else 3)
            minutes = int(sheets / 25) + chance.randrange(8, 40)
            operator = chance.choices(OPERATORS, [8, 7, 5, 4, 1])[0]
            rows.append((number, chance.choice(TECHNIQUE[product]), begin, minutes, sheets, waste, operator, stop))
    rows.sort(key=lambda one: (one[2], one[0], one[1]))
    columns = ["order_no", "press_id", "started_at", "minutes", "sheets", "wasted_sheets", "operator", "stop_reason"]
    write("runs", ["run_id", *columns], [(n + 1, *one) for n, one in enumerate(rows)])


def complaints(chance: random.Random, placed: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for order in placed:
        if order[6] and chance.random() < 0.13:
            day = order[6].date() + timedelta(days=chance.randrange(1, 12))
            reason = chance.choices(["COL", "LAT", "CUT", "QTY"], [8, 6, 4, 2])[0]
            refund = round(order[8] * chance.choice([0.1, 0.2, 0.5]), 2) if chance.random() < 0.5 else None
            closed = day + timedelta(days=chance.randrange(1, 21)) if chance.random() < 0.85 else None
            rows.append((order[0], day, reason, refund, closed))
    rows.sort(key=lambda one: (one[1], one[0]))
    write(
        "complaints",
        ["complaint_no", "order_no", "received_on", "reason", "refund_eur", "closed_on"],
        [(n + 1, *one) for n, one in enumerate(rows)],
    )


def main() -> None:
    chance = random.Random(1455)
    write("presses", ["press_id", "press_name", "technique", "hall", "bought_on", "hourly_cost_eur"], PRESSES)
    write("papers", ["paper_code", "paper_name", "grammage", "finish", "is_recycled", "sheet_price_cents"], PAPERS)
    clients(chance)
    placed = orders(chance)
    runs(chance, placed)
    complaints(chance, placed)


if __name__ == "__main__":
    main()
