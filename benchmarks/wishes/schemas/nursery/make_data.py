"""Makes the data of the plant nursery: `python make_data.py` writes the same files again."""

import csv
import math
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2025, 11, 3)
DAYS = 300
PLANTS: list[tuple[Any, ...]] = [
    ("BEE", "Common Beech", "Fagus sylvatica", "TRE", 1890, -28, False, True),
    ("HRN", "Hornbeam", "Carpinus betulus", "TRE", 1650, -29, False, True),
    ("FIG", "Fig", "Ficus carica", "TRE", 2490, -12, False, False),
    ("LAV", "Lavender", "Lavandula angustifolia", "SHR", 390, -20, False, False),
    ("HYD", "Hydrangea", "Hydrangea macrophylla", "SHR", 1290, -18, True, False),
    ("HAZ", "Hazel", "Corylus avellana", "SHR", 990, -30, False, True),
    ("HOS", "Hosta", None, "PER", 720, -35, True, False),
    ("FER", "Lady Fern", "Athyrium filix-femina", "PER", 640, -34, True, True),
    ("ECH", "Coneflower", "Echinacea purpurea", "PER", 580, -32, False, False),
    ("SAL", "Meadow Sage", "Salvia pratensis", "PER", 490, -26, False, True),
    ("BAS", "Basil", "Ocimum basilicum", "HER", 220, 5, False, False),
    ("THY", "Thyme", "Thymus vulgaris", "HER", 260, -18, False, False),
    ("MIN", "Mint", None, "HER", 240, -25, True, False),
    ("TUL", "Tulip", "Tulipa gesneriana", "BUL", 85, -22, False, False),
    ("SNO", "Snowdrop", "Galanthus nivalis", "BUL", 70, -27, True, True),
    ("ORC", "Bee Orchid", "Ophrys apifera", "PER", 2900, None, False, True),  # was never ordered
]
HOUSES: list[tuple[Any, ...]] = [
    (1, "Old Glass", 420, "WOD", 1964),
    (2, "Long House", 900, "GAS", 1988),
    (3, "Palm House", 350, "GAS", 1991),
    (4, "North Tunnel", 600, None, 2009),
    (5, "New Glass", 1400, "HP", 2023),
    (6, "Quarantine", 80, "HP", 2024),  # nothing was sown there
]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def sowings(chance: random.Random) -> None:
    rows: list[tuple[Any, ...]] = []
    end = BEGIN + timedelta(days=DAYS - 1)
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        busy = 0.75 if day.month in {2, 3, 4, 5} else 0.3
        if day.weekday() == 6 or chance.random() > busy:
            continue
        for _ in range(chance.choices([1, 2, 3], [60, 30, 10])[0]):
            plant = chance.choice(PLANTS[:15])[0]
            house = chance.choices([1, 2, 3, 4, 5, None], [14, 24, 10, 16, 28, 8])[0]
            grower = chance.choices(["Anneke", "Bogdan", "Celine", "Davit"], [32, 28, 24, 16])[0]
            seeds = chance.choice([60, 84, 120, 200, 240, 480])
            counted = day < end - timedelta(days=20) and chance.random() < 0.95
            up = round(seeds * chance.uniform(0.45, 0.97)) if counted else None
            potted = day + timedelta(days=chance.randrange(25, 60)) if counted and chance.random() < 0.9 else None
            potted = None if potted and potted > end else potted
            lost = chance.choice([0, 0, 0, 2, 5, 8, 14, 30]) if counted else 0
            cold = 40 if day.month in {11, 12, 1, 2} else 4
            why = chance.choices(["FRO", "MLD", "SLG", "DRY"], [cold, 25, 18, 16])[0] if lost else None
            rows.append((plant, house, grower, day, seeds, up, potted, lost, why))
    columns = ["plant_code", "house_no", "grower", "sown_on", "seeds", "germinated", "potted_on", "lost", "loss_cause"]
    write("sowings", ["sowing_no", *columns], [(600 + n, *one) for n, one in enumerate(rows)])


def climate(chance: random.Random) -> None:
    rows: list[tuple[Any, ...]] = []
    for n in range(60):
        day = date(2026, 3, 20) + timedelta(days=n)
        for hour in range(2, 24, 4):
            at = datetime(day.year, day.month, day.day, hour)
            for house in HOUSES[:5]:
                if chance.random() < 0.04:
                    continue
                warm = {None: 6.0, "GAS": 16.0, "HP": 17.5, "WOD": 13.0}[house[3]]
                temp = warm + n * 0.09 + 5 * math.sin((hour - 8) / 24 * 6.28) + chance.gauss(0, 1.6)
                air = None if chance.random() < 0.02 else round(temp, 1)
                rows.append((house[0], at, air, round(min(99, max(30, chance.gauss(68, 11)))), temp > 21))
    write("climate", ["house_no", "read_at", "temp_c", "humidity_pct", "vents_open"], rows)


def sales(chance: random.Random) -> None:
    people: list[tuple[Any, ...]] = []
    for n in range(70):
        kind = chance.choices(["GAR", "LAN", "COU", "PRI"], [30, 30, 12, 28])[0]
        name = {"GAR": "Green Corner", "LAN": "Stone & Leaf", "COU": "Town of Elm", "PRI": "Fam. Roth"}[kind] + f" {n}"
        place = chance.choices(["Valley", "Lakeside", "HIGH FELL", "Moor", None], [36, 28, 16, 14, 6])[0]
        since = date(2011, 1, 10) + timedelta(days=chance.randrange(5300))
        people.append((800 + n, name, kind, place, since, chance.choice([0, 14, 30, 30, 60]), chance.random() < 0.4))
    columns = ["buyer_no", "buyer_name", "kind", "district", "buyer_since", "credit_days", "wants_newsletter"]
    write("buyers", columns, people)
    orders: list[tuple[Any, ...]] = []
    lines: list[tuple[Any, ...]] = []
    end = BEGIN + timedelta(days=DAYS - 1)
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        spring = 2 if day.month in {3, 4, 5} else 0
        for _ in range(0 if day.weekday() == 6 else chance.choices([0, 1, 2, 3], [30, 40, 20, 10])[0] + spring):
            channel = chance.choices(["WEB", "TEL", "FAI", "GAT"], [42, 28, 6, 24])[0]
            buyer = (
                None if channel == "GAT" and chance.random() < 0.6 else people[min(int(chance.expovariate(0.05)), 64)]
            )
            at = datetime(day.year, day.month, day.day, chance.randrange(7, 20), chance.randrange(60))
            wanted = day + timedelta(days=chance.choice([3, 7, 7, 14, 21]))
            sent: date | None = day + timedelta(days=chance.choice([1, 2, 3, 5, 8, 12, 24]))
            state = "X" if chance.random() < 0.06 else "S"
            if state == "X" or (sent and sent > end):
                state, sent = (state if state == "X" else chance.choice(["N", "N", "P"])), None
            freight = 0 if channel == "GAT" else chance.choice([0, 990, 1490, 2900, 4500])
            number = 20001 + len(orders)
            orders.append((number, buyer[0] if buyer else None, at, wanted, sent, channel, state, freight))
            for plant in chance.sample(PLANTS[:15], chance.choices([1, 2, 3, 5], [34, 34, 22, 10])[0]):
                big = buyer is not None and buyer[2] != "PRI"
                pieces = chance.choice([10, 20, 24, 50, 100] if big else [1, 2, 3, 5])
                lines.append((number, plant[0], pieces, round(plant[4] * chance.choice([1, 1, 0.9, 0.8]))))
    columns = ["order_no", "buyer_no", "ordered_at", "wanted_by", "shipped_on", "channel", "status", "freight_cents"]
    write("orders", columns, orders)
    write("order_lines", ["order_no", "plant_code", "pieces", "price_cents"], lines)


def main() -> None:
    chance = random.Random(7736)
    columns = ["plant_code", "plant_name", "latin_name", "category", "list_price_cents", "hardy_to_c", "needs_shade"]
    write("plants", [*columns, "is_native"], PLANTS)
    write("greenhouses", ["house_no", "house_name", "area_m2", "heating", "built_in"], HOUSES)
    sowings(chance)
    climate(chance)
    sales(chance)


if __name__ == "__main__":
    main()
