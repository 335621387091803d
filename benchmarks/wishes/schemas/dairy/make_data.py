"""Writes the data of the dairy: python make_data.py. The same seed gives the same rows."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path

DATA = Path(__file__).parent / "data"
FIRST = datetime(2025, 9, 1)
DAYS = 181
FARMS = (
    "Oberhof",
    "Lindenhof",
    "Bachmann",
    "Sonnenberg",
    "Huber",
    "Rietwies",
    "Tobel",
    "Waldegg",
    "Steiner",
    "Moosmatt",
    "Neuhof",
    "Kessler",
)
PRODUCTS = (
    ("ML1", "Whole milk 1 l", "MLK", 1030, 1.35, 9),
    ("ML5", "Skimmed milk 1 l", "MLK", 1035, 1.25, 9),
    ("YO1", "Plain yoghurt", "YOG", 180, 0.65, 24),
    ("YO2", "Strawberry yoghurt", "YOG", 180, 0.75, 24),
    ("CH1", "Mountain cheese", "CHE", 400, 7.9, 120),
    ("CH2", "Cream cheese", "CHE", 200, 2.4, 45),
    ("BU1", "Butter", "BUT", 250, 3.2, 60),
)
TOWNS = ("Uster", "Wald", "Wetzikon", "Zug")


def write(name: str, columns: str, rows: list[tuple[object, ...]]) -> None:
    """Write the rows of one table."""
    with (DATA / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns.split())
        writer.writerows(rows)


def farms(rng: random.Random) -> list[tuple[object, ...]]:
    """Twelve farms; the last one has no delivery yet, two ended their contract."""
    villages = ("Bauma", "Hinwil", "Gossau", "Fischenthal")
    left = {4: date(2025, 12, 31), 9: date(2026, 1, 31)}
    return [
        (
            n,
            name,
            rng.choice(villages),
            rng.randint(25, 140),
            rng.random() < 0.4,
            date(2012, 3, 1) + timedelta(days=380 * n),
            left.get(n, ""),
        )
        for n, name in enumerate(FARMS, 1)
    ]


def deliveries(rng: random.Random, herds: dict[int, int]) -> list[tuple[object, ...]]:
    """Milk of every second day of each farm."""
    rows: list[tuple[object, ...]] = []
    for day in range(DAYS):
        for farm, cows in herds.items():
            gone = (farm == 4 and day > 121) or (farm == 9 and day > 152)
            if farm == 12 or gone or (day + farm) % 2 or rng.random() < 0.03:
                continue
            at = FIRST + timedelta(days=day, hours=4 + farm % 6, minutes=rng.randint(0, 59))
            cells = "" if rng.random() < 0.1 else int(rng.lognormvariate(12.2, 0.4))
            fat, protein = round(rng.gauss(3.7 + farm * 0.05, 0.2), 2), round(rng.gauss(3.3, 0.1), 2)
            rejected = rng.random() < (0.05 if farm in (3, 7) else 0.015)
            tanker = "T1" if farm < 5 else rng.choice(("T2", "T3"))
            rows.append(
                (len(rows) + 1001, farm, at, tanker, int(cows * rng.uniform(38, 52)), fat, protein, cells, rejected)
            )
    return rows


def batches(rng: random.Random) -> list[tuple[object, ...]]:
    """Two or three batches each day; the last ones are still in production."""
    rows: list[tuple[object, ...]] = []
    for day in range(DAYS):
        for hour in (5, 9, 14)[: rng.randint(2, 3)]:
            code, _, _, grams, _, _ = rng.choice(PRODUCTS)
            began = FIRST + timedelta(days=day, hours=hour, minutes=rng.randint(0, 50))
            ended = began + timedelta(minutes=rng.randint(90, 420))
            litres = rng.randint(800, 4000)
            made = int(litres * 1000 / grams * {"CH1": 0.1, "CH2": 0.4, "BU1": 0.05}.get(code, 0.97))
            line = {"M": "A", "Y": "B", "C": "C", "B": "D"}[code[0]]
            running = day == DAYS - 1 or (day == DAYS - 2 and hour == 14)
            rows.append(
                (
                    len(rows) + 1,
                    code,
                    line,
                    began,
                    "" if running else ended,
                    litres,
                    made,
                    int(made * rng.uniform(0, 0.05)),
                )
            )
    return rows


def shops(rng: random.Random) -> list[tuple[object, ...]]:
    """Twenty-five shops."""
    return [
        (
            n,
            f"Shop {n:02}",
            rng.choice(TOWNS),
            rng.choice(("SUP", "COR", "COR", "RES")),
            rng.choice((500, 1000, 2500, 5000)),
        )
        for n in range(1, 26)
    ]


def orders(rng: random.Random, kinds: dict[int, str]) -> list[tuple[object, ...]]:
    """Orders of the shops; supermarkets order more."""
    rows: list[tuple[object, ...]] = []
    for day in range(DAYS):
        for _ in range(rng.randint(3, 8) - (2 if (FIRST + timedelta(days=day)).weekday() > 4 else 0)):
            shop = rng.randint(1, 24)
            code, _, _, _, price, _ = rng.choice(PRODUCTS)
            units = rng.randint(10, 60) * (5 if kinds[shop] == "SUP" else 1)
            at = FIRST + timedelta(days=day, hours=rng.randint(6, 17), minutes=rng.randint(0, 59))
            status = "cancelled" if rng.random() < 0.07 else "new" if day > DAYS - 4 else "shipped"
            paid = at.date() + timedelta(days=rng.randint(5, 45)) if status == "shipped" and rng.random() < 0.85 else ""
            rows.append(
                (
                    len(rows) + 1,
                    shop,
                    code,
                    at,
                    at.date() + timedelta(days=rng.randint(1, 5)),
                    units,
                    round(units * price * rng.uniform(0.85, 1), 2),
                    status,
                    paid,
                )
            )
    return rows


def main() -> None:
    """Write all tables."""
    rng = random.Random(32)
    land, stores = farms(rng), shops(rng)
    write("farms", "farm_id farm_name village cows is_organic joined_on left_on", land)
    columns = "delivery_id farm_id collected_at tanker litres fat_pct protein_pct cell_count is_rejected"
    write("deliveries", columns, deliveries(rng, {int(str(r[0])): int(str(r[3])) for r in land}))
    write("products", "product_code product_name category pack_grams list_price_eur shelf_days", list(PRODUCTS))
    write(
        "batches",
        "batch_no product_code line started_at finished_at litres_used units_made units_discarded",
        batches(rng),
    )
    write("shops", "shop_id shop_name town shop_kind credit_limit_eur", stores)
    columns = "order_id shop_id product_code ordered_at deliver_on units amount_eur status paid_on"
    write("orders", columns, orders(rng, {int(str(r[0])): str(r[3]) for r in stores}))


if __name__ == "__main__":
    main()
