"""Makes the data of the furniture shop: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = datetime(2026, 1, 2)
TOWNS = ["Lund", "Ystad", "Malmby", None]
SUPPLIERS = ["Nordwood", "Elm & Co", "Softline"]
SELLERS = ["Ines", "Jonas", "Karin", "Lars"]
CREWS = ["Blue", "Green", "Red"]
PRICES = {"SOF": 780.0, "TBL": 340.0, "BED": 520.0, "CHR": 95.0, "WRD": 610.0}
WEIGHTS = {"SOF": 62.0, "TBL": 31.0, "BED": 48.0, "CHR": 7.0, "WRD": 88.0}


def write(name: str, columns: str, rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns.split())
        writer.writerows(rows)


def text(flag: bool) -> str:
    return "true" if flag else "false"


def articles(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(1, 31):
        kind = chance.choice(list(PRICES))
        weight = round(WEIGHTS[kind] * chance.uniform(0.7, 1.4), 1)
        rows.append(
            (
                f"A{n:03}",
                f"{chance.choice(['Alva', 'Birk', 'Dala', 'Ekeby', 'Fjord'])} {n}",
                kind,
                chance.choice(SUPPLIERS),
                round(PRICES[kind] * chance.uniform(0.6, 1.7), 2),
                weight,
                round(weight / 80 * chance.uniform(0.8, 2.4), 2),
                text(kind in ("BED", "WRD") or chance.random() < 0.3),
                date(2026, 3, 1) + timedelta(days=2 * n) if chance.random() < 0.15 else None,
            )
        )
    return rows


def customers(chance: random.Random) -> list[tuple[Any, ...]]:
    names = ["Ahl", "Berg", "Dahl", "Ek", "Falk", "Gran", "Holm", "Lind", "Moe", "Norr"]
    return [
        (
            n,
            f"{names[n % 10]} Hotels" if n % 7 == 0 else f"{chance.choice('ABCDEF')}. {names[n % 10]}",
            "BUS" if n % 7 == 0 else "PRV",
            chance.choice(TOWNS),
            date(2023, 1, 1) + timedelta(days=chance.randrange(1200)),
            text(chance.random() < 0.5),
            f"040-{chance.randrange(1000, 9999)}" if chance.random() < 0.8 else None,
        )
        for n in range(1, 71)
    ]


def main() -> None:
    chance = random.Random(31)
    goods = articles(chance)
    people = customers(chance)
    orders: list[tuple[Any, ...]] = []
    lines: list[tuple[Any, ...]] = []
    deliveries: list[tuple[Any, ...]] = []
    returns: list[tuple[Any, ...]] = []
    for n in range(1, 361):
        at = BEGIN + timedelta(days=chance.randrange(150), hours=chance.randint(8, 20), minutes=chance.randrange(60))
        wanted = at.date() + timedelta(days=chance.randint(4, 25))
        channel = chance.choice(["WEB", "WEB", "STR", "TEL"])
        off = chance.random() < 0.08
        orders.append(
            (
                5000 + n,
                chance.randint(1, 62),
                at,
                wanted,
                channel,
                None if channel == "WEB" else chance.choice(SELLERS),
                chance.choice([None, None, 10.0, 25.0, 50.0]),
                at + timedelta(hours=chance.randint(2, 70)) if off else None,
            )
        )
        chosen = chance.sample(goods[:28], chance.randint(1, 4))
        for good in chosen:
            price = round(good[4] * chance.choice([1.0, 1.0, 0.9]), 2)
            pieces = chance.randint(2, 8) if good[2] == "CHR" else 1 + (chance.random() < 0.1)
            lines.append((len(lines) + 1, 5000 + n, good[0], pieces, price))
        if off or wanted > date(2026, 6, 5):
            continue
        day = datetime.combine(wanted, datetime.min.time()) + timedelta(days=chance.choice([-1, 0, 0, 0, 1, 3]))
        outcome = chance.choices(["OK", "PRT", "ABS", "DMG"], weights=[12, 2, 2, 1])[0]
        stay = chance.randint(4, 9) if outcome == "ABS" else chance.randint(10, 140)
        deliveries.append(
            (
                len(deliveries) + 1,
                5000 + n,
                chance.choice(CREWS),
                day + timedelta(hours=chance.randint(8, 18), minutes=chance.randrange(60)),
                stay,
                chance.randint(0, 5),
                outcome,
                chance.choice([None, 1, 3, 4, 4, 5, 5]) if outcome != "ABS" else None,
                chance.choice([0.0, 0.0, 5.0, 10.0, 20.0]) if outcome != "ABS" else 0.0,
            )
        )
        if outcome != "ABS" and chance.random() < 0.22:
            good = chance.choice(chosen)
            returns.append(
                (
                    len(returns) + 1,
                    5000 + n,
                    good[0],
                    day.date() + timedelta(days=chance.randint(2, 20)),
                    chance.choice(["SIZ", "COL", "BRK", "LIK"]),
                    round(good[4] * chance.uniform(0.5, 1), 2) if chance.random() < 0.85 else None,
                    text(chance.random() < 0.6),
                )
            )
    write(
        "articles", "art_no art_name range supplier list_price_eur weight_kg volume_m3 needs_assembly dropped_on", goods
    )
    write("customers", "cust_no cust_name cust_type town joined_on newsletter phone", people)
    write("orders", "order_no cust_no ordered_at wanted_on channel seller voucher_eur cancelled_at", orders)
    write("order_lines", "line_no order_no art_no pieces piece_price_eur", lines)
    write("deliveries", "delivery_no order_no crew arrived_at minutes_on_site storey outcome stars tip_eur", deliveries)
    write("returns", "return_no order_no art_no came_in_on reason refund_eur resellable", returns)


if __name__ == "__main__":
    main()
