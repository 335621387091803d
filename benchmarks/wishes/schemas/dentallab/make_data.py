"""Makes the data of the dental laboratory: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2026, 1, 7)
DAYS = 165
TOWNS = ["Velsum", "Oberach", "Port Laine", "Kirk Mills", "Dunmarsh", None]
NAMES = [
    "Smile Corner",
    "Dr Weller",
    "Dr Okafor",
    "Bright Teeth",
    "Old Market Dental",
    "Dr Ruiz",
    "Dr Lindqvist",
    "Harbour Dental",
]
NAMES += [
    "Dr Petrov",
    "Family Dental",
    "Dr Ishida",
    "Molar & Sons",
    "Dr Haas",
    "The Tooth House",
    "Dr Moreau",
    "Park Practice",
]
NAMES += ["Dr Nwosu", "City Dental", "Dr Brandt", "Station Dentists", "Dr Galli", "White Lane"]
TECHNICIANS: list[tuple[Any, ...]] = [
    (11, "Nora Pike", "CB", date(2011, 3, 1), None, 34.5),
    (12, "Tomas Vrba", "CB", date(2016, 9, 1), None, 31.0),
    (13, "Lea Steiner", "CB", date(2020, 1, 15), None, 28.5),
    (14, "Amir Daoud", "RM", date(2014, 6, 1), None, 30.0),
    (15, "Wilma Jansen", "RM", date(2022, 2, 1), None, 26.0),
    (16, "Oscar Reyes", "OR", date(2019, 5, 6), None, 29.5),
    (17, "Beata Nowak", "OR", date(2023, 8, 1), date(2026, 4, 30), 24.0),
    (18, "Hugh Allard", "CB", date(2009, 1, 5), date(2025, 11, 30), 36.0),
    (19, "Ines Pinto", "RM", date(2026, 6, 1), None, 22.5),
]
MATERIALS: list[tuple[Any, ...]] = [
    ("ZR1", "Zirconia blank", "CER", 1.9, 2400.0, 1500.0),
    ("LD2", "Lithium disilicate", "CER", 4.6, 310.0, 400.0),
    ("CC3", "Cobalt chrome", "MET", 0.8, 5200.0, 2000.0),
    ("AU4", "Gold alloy", "MET", 61.0, 85.5, 120.0),
    ("PM5", "PMMA", "POL", 0.25, 9100.0, 4000.0),
    ("AC6", "Pink acrylic", "POL", 0.12, 3900.0, 4200.0),
    ("TF7", "Thermoforming foil", "POL", 0.4, 2750.0, 1000.0),
    ("TI8", "Titanium", "MET", 2.2, 640.0, 300.0),  # not used so far
]
PRODUCTS: dict[str, tuple[int, float, list[str], tuple[int, ...], list[int]]] = {
    "CRN": (46, 182.0, ["ZR1", "LD2", "AU4"], (11, 12, 13), [40, 34, 26]),
    "BRG": (15, 171.0, ["ZR1", "CC3"], (11, 12, 13), [50, 35, 15]),
    "DEN": (16, 52.0, ["PM5", "AC6"], (14, 15), [60, 40]),
    "SPL": (12, 94.0, ["TF7", "PM5"], (14, 15, 16), [20, 45, 35]),
    "ALN": (11, 61.0, ["TF7"], (16, 17), [65, 35]),
}
SHADES = ["A1", "A2", "A3", "A3.5", "B1", "B2", "C2", "D3"]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def practices(chance: random.Random) -> None:
    rows: list[tuple[Any, ...]] = []
    for n, name in enumerate(NAMES):
        since = date(2008, 1, 1) + timedelta(days=chance.randrange(6300))
        if n >= 20:
            since = BEGIN + timedelta(days=chance.randrange(20, 120))
        pays = chance.choices(["DD", "INV", "CRD"], [40, 45, 15])[0]
        town = chance.choices(TOWNS, [30, 22, 18, 14, 12, 4])[0]
        rows.append((301 + n, name, town, since, chance.choice([0, 0, 2.5, 5, 7.5, 10]), pays, chance.random() < 0.45))
    write(
        "practices",
        ["practice_no", "practice_name", "town", "client_since", "discount_pct", "pays_by", "sends_scans"],
        rows,
    )


def units_of(product: str, chance: random.Random) -> int:
    if product == "BRG":
        return chance.randrange(3, 7)
    if product == "DEN":
        return chance.choice([8, 10, 12, 14, 28])
    return chance.choices([1, 2, 3], [80, 15, 5])[0] if product == "CRN" else chance.choice([14, 16])


def cases(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        if day.weekday() >= 5 or day in (date(2026, 4, 3), date(2026, 5, 1)):
            continue
        for _ in range(chance.randrange(2, 9)):
            at = datetime(day.year, day.month, day.day, chance.randrange(7, 18), chance.randrange(60))
            product = chance.choices(list(PRODUCTS), [one[0] for one in PRODUCTS.values()])[0]
            _, base, _, makers, weights = PRODUCTS[product]
            units = units_of(product, chance)
            rush = chance.random() < 0.12
            price = round(
                base
                * units ** (0.55 if product in ("DEN", "SPL", "ALN") else 0.95)
                * (1.3 if rush else 1)
                * chance.uniform(0.92, 1.1),
                2,
            )
            took = chance.gauss(3 if rush else 8, 1.0 if rush else 2.2)
            due = day + timedelta(days=4 if rush else 10)
            out = at + timedelta(days=max(1.0, took), hours=chance.randrange(5), minutes=chance.randrange(60))
            shipped = out.replace(second=0, microsecond=0) if out.date() <= BEGIN + timedelta(days=DAYS) else None
            maker = chance.choices(makers, weights)[0]
            if maker == 17 and at > datetime(2026, 4, 22):
                maker = 16
            who = None if shipped is None and chance.random() < 0.5 else maker
            practice = (
                301 + int(20 * chance.random() ** 1.35)
                if chance.random() < 0.97 or n < 120
                else chance.choice([321, 322])
            )
            shade = (
                chance.choices(SHADES, [10, 28, 22, 12, 8, 9, 7, 4])[0] if product in ("CRN", "BRG", "DEN") else None
            )
            rows.append((practice, at, product, shade, units, who, due, shipped, price, rush))
    rows.sort(key=lambda one: (one[1], one[0], one[2]))
    numbered = [(n + 70001, *one) for n, one in enumerate(rows)]
    columns = [
        "practice_no",
        "received_at",
        "product",
        "shade",
        "units",
        "tech_id",
        "due_on",
        "shipped_at",
        "price_eur",
        "is_rush",
    ]
    write("cases", ["case_no", *columns], numbered)
    return numbered


def usages(chance: random.Random, made: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for number, _practice, at, product, _shade, units, _who, _due, out, *_ in made:
        if out is None or chance.random() < 0.03:
            continue
        for code in chance.sample(
            PRODUCTS[product][2], k=1 if chance.random() < 0.75 else min(2, len(PRODUCTS[product][2]))
        ):
            grams = round(
                units
                * {"CRN": 2.4, "BRG": 3.1, "DEN": 2.2, "SPL": 0.9, "ALN": 1.1}[product]
                * chance.uniform(0.7, 1.4),
                1,
            )
            span = int((out - at).total_seconds() // 60)
            rows.append((number, code, grams, at + timedelta(minutes=chance.randrange(span // 3, span))))
    rows.sort(key=lambda one: (one[3], one[0], one[1]))
    write(
        "usages",
        ["usage_no", "case_no", "material_code", "grams", "weighed_at"],
        [(n + 1, *one) for n, one in enumerate(rows)],
    )


def remakes(chance: random.Random, made: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    end = BEGIN + timedelta(days=DAYS)
    for number, _practice, _at, product, _shade, _units, who, _due, out, price, _rush in made:
        risk = {"CRN": 0.1, "BRG": 0.14, "DEN": 0.17, "SPL": 0.05, "ALN": 0.08}[product] * (
            1.7 if who in (13, 15, 17) else 1
        )
        while out is not None and chance.random() < risk:
            day = out.date() + timedelta(days=chance.randrange(2, 25))
            if day > end:
                break
            shades = 24 if product in ("CRN", "BRG", "DEN") else 0
            reason = chance.choices(["FIT", "SHD", "BRK", "IMP"], [44, shades, 14, 18])[0]
            own = chance.random() < (0.2 if reason == "IMP" else 0.75)
            charged = 0.0 if own else round(price * chance.uniform(0.3, 0.6), 2)
            rows.append((number, day, reason, round(chance.uniform(0.5, 5.5) * 4) / 4, charged, own))
            risk *= 0.6
    rows.sort(key=lambda one: (one[1], one[0]))
    columns = ["remake_no", "case_no", "reported_on", "reason", "hours", "charged_eur", "accepted"]
    write("remakes", columns, [(n + 9001, *one) for n, one in enumerate(rows)])


def main() -> None:
    chance = random.Random(2026)
    practices(chance)
    columns = ["tech_id", "tech_name", "bench", "hired_on", "left_on", "hourly_rate_eur"]
    write("technicians", columns, TECHNICIANS)
    columns = ["material_code", "material_name", "family", "price_per_gram_eur", "stock_g", "reorder_g"]
    write("materials", columns, MATERIALS)
    made = cases(chance)
    usages(chance, made)
    remakes(chance, made)


if __name__ == "__main__":
    main()
