"""Makes the data of the waste collection: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = datetime(2026, 1, 5)
DAYS = 130
DISTRICTS = [
    (1, "Old Harbour", 2100),
    (2, "Hillside", 3400),
    (3, "Mill Lane", 1800),
    (4, "Station Quarter", None),
    (5, "Garden City", 2700),
    (6, "Far End", 150),
]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def rounds(chance: random.Random) -> list[tuple[Any, ...]]:
    fleet = []
    for n in range(8):
        make = ["Volvo", "MAN", "Scania"][n % 3]
        bought = date(2014, 6, 1) + timedelta(days=chance.randrange(4000))
        fleet.append((f"RC{n + 1:02}", make, bought, chance.choice([8000, 9500, 11000]), n in {2, 5}))
    write("vehicles", ["vehicle_id", "make", "bought_on", "payload_kg", "is_electric"], fleet)
    rows: list[tuple[Any, ...]] = []
    for day in range(DAYS):
        if day % 7 >= 5 or day in range(88, 91):
            continue
        for district in DISTRICTS[:5]:
            if chance.random() < 0.55:
                began = BEGIN + timedelta(days=day, hours=chance.choice([6, 7, 12]), minutes=chance.choice([0, 10, 30]))
                ended = None if chance.random() < 0.03 else began + timedelta(minutes=chance.randrange(90, 330))
                material = chance.choices("PGOR", [30, 15, 20, 35])[0]
                rows.append((district[0], chance.choice(fleet[:7])[0], material, began, ended))
    rows.sort(key=lambda one: (one[3], one[0]))
    rows = [(3001 + n, *one) for n, one in enumerate(rows)]
    write("rounds", ["round_id", "district_no", "vehicle_id", "material", "began_at", "ended_at"], rows)
    return rows


def weighings(chance: random.Random, driven: list[tuple[Any, ...]]) -> None:
    rows = []
    for one in driven:
        for n in range(chance.choice([0, 1, 1, 2, 3])):
            at = one[4] + timedelta(minutes=60 + 55 * n + chance.randrange(20))
            kg = chance.randrange(400, 5200, 10)
            rows.append((one[0], at, kg, chance.random() < 0.12))
    rows.sort(key=lambda one: (one[1], one[0]))
    columns = ["weighing_id", "round_id", "weighed_at", "net_kg", "is_contaminated"]
    write("weighings", columns, [(n + 1, *one) for n, one in enumerate(rows)])


def complaints(chance: random.Random) -> None:
    rows = []
    for _ in range(310):
        at = BEGIN + timedelta(days=chance.randrange(DAYS), minutes=chance.randrange(7 * 60, 21 * 60))
        district = chance.choices([1, 2, 3, 4, 5], [30, 25, 10, 20, 15])[0]
        subject = chance.choices(["MIS", "NOI", "SPL", None], [50, 20, 25, 5])[0]
        closed = None if chance.random() < 0.2 else at + timedelta(hours=chance.randrange(2, 400))
        stars = None if closed is None or chance.random() < 0.5 else chance.randrange(1, 6)
        channel = chance.choices(["TEL", "EML", "APP"], [40, 25, 35])[0]
        rows.append((district, at, subject, channel, closed, stars))
    rows.sort(key=lambda one: (one[1], one[0]))
    columns = ["complaint_id", "district_no", "reported_at", "subject", "channel", "closed_at", "stars"]
    write("complaints", columns, [(n + 1, *one) for n, one in enumerate(rows)])


def bins(chance: random.Random) -> None:
    rows = []
    for n in range(260):
        placed = date(2018, 1, 1) + timedelta(days=chance.randrange(2900))
        taken = placed + timedelta(days=chance.randrange(60, 800)) if chance.random() < 0.15 else None
        material = chance.choices(["P", "G", "O", "R"], [30, 20, 25, 25])[0]
        litres = chance.choice([120, 240, 660, 1100])
        district = chance.choice([1, 1, 2, 2, 2, 3, 4, 5, None])
        rows.append((10001 + n, district, material, litres, placed, taken, chance.random() < 0.4))
    columns = ["bin_no", "district_no", "material", "litres", "placed_on", "removed_on", "has_chip"]
    write("bins", columns, rows)


def main() -> None:
    chance = random.Random(97)
    write("districts", ["district_no", "district_name", "households"], DISTRICTS)
    weighings(chance, rounds(chance))
    complaints(chance)
    bins(chance)


if __name__ == "__main__":
    main()
