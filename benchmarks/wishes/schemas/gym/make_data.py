"""Makes the data of the chain of gyms: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = datetime(2026, 2, 2)
DAYS = 110
STUDIOS = [
    ("NRD", "North", "Arlow", date(2014, 5, 1)),
    ("CTR", "Centre", "Arlow", date(2009, 1, 12)),
    ("RIV", "Riverside", "Benthem", date(2019, 9, 2)),
    ("PRK", "Park", "Cadwell", date(2023, 3, 15)),
    ("DCK", "Docks", None, date(2026, 5, 4)),
]
TITLES = [("Spin", "SPN"), ("Power Yoga", "YOG"), ("Core", "STR"), ("Slow Flow", "YOG"), ("Barbell", "STR")]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def names(chance: random.Random, count: int) -> list[str]:
    first = ["Ada", "Ben", "Cleo", "Dov", "Ella", "Finn", "Gita", "Hal", "Ines", "Jon", "Kim", "Leo", "Maja", "Nils"]
    last = ["Archer", "Brand", "Cole", "Dunn", "Ekholm", "Frost", "Gray", "Hale", "Irvine", "Jarvis", "Knox"]
    every = [f"{one} {other}" for one in first for other in last]
    chance.shuffle(every)
    return every[:count]


def members(chance: random.Random) -> list[tuple[Any, ...]]:
    rows = []
    for n, name in enumerate(names(chance, 120)):
        studio = chance.choices(STUDIOS[:4], [35, 30, 20, 15])[0][0]
        plan = chance.choices("BPU", [50, 30, 20])[0]
        joined = date(2024, 11, 4) + timedelta(days=chance.randrange(540))
        ended = joined + timedelta(days=chance.randrange(30, 400)) if chance.random() < 0.2 else None
        born = None if n % 13 == 3 else chance.randrange(1955, 2008)
        rows.append((301 + n, name, studio, plan, joined, ended, born))
    columns = ["member_no", "member_name", "studio_id", "plan", "joined_on", "ended_on", "birth_year"]
    write("members", columns, rows)
    return rows


def classes(chance: random.Random) -> list[tuple[Any, ...]]:
    trainers = [
        (f"T{n + 1:02}", name, STUDIOS[n % 4][0], chance.choice(["SPN", "YOG", "STR", None]), chance.randrange(25, 60))
        for n, name in enumerate(names(chance, 14))
    ]
    write("trainers", ["trainer_id", "trainer_name", "studio_id", "specialty", "hourly_rate"], trainers)
    rows: list[tuple[Any, ...]] = []
    for day in range(DAYS):
        if day % 7 == 6 or day in range(60, 63):
            continue
        for trainer in trainers[:13]:
            if chance.random() < 0.3:
                title, kind = chance.choice(TITLES)
                starts = BEGIN + timedelta(days=day, hours=chance.choice([7, 9, 12, 17, 18, 19]))
                length = chance.choice([30, 45, 60])
                rows.append((title, kind, trainer[0], trainer[2], starts, length, chance.choice([8, 10, 12])))
    rows.sort(key=lambda one: (one[4], one[2]))
    columns = ["title", "kind", "trainer_id", "studio_id", "starts_at", "minutes", "capacity"]
    rows = [(7001 + n, *one) for n, one in enumerate(rows)]
    write("classes", ["class_id", *columns], rows)
    return rows


def reservations(chance: random.Random, offered: list[tuple[Any, ...]], people: list[tuple[Any, ...]]) -> None:
    rows = []
    for one in offered:
        for person in chance.sample(people[:105], chance.choice([0, 1, 2, 3, 4, 5])):
            booked = one[5] - timedelta(hours=chance.randrange(1, 150), minutes=chance.randrange(60))
            source = chance.choices(["APP", "WEB", "DSK", None], [55, 25, 15, 5])[0]
            rows.append((one[0], person[0], booked, chance.choices("ANC", [76, 10, 14])[0], source))
    rows.sort(key=lambda one: (one[2], one[0], one[1]))
    columns = ["class_id", "member_no", "booked_at", "state", "source"]
    write("reservations", ["reservation_id", *columns], [(40001 + n, *one) for n, one in enumerate(rows)])


def visits(chance: random.Random, people: list[tuple[Any, ...]]) -> None:
    rows = []
    for n in range(1300):
        person = people[int(chance.random() ** 1.5 * 112)]
        came = BEGIN + timedelta(days=chance.randrange(DAYS), minutes=chance.randrange(6 * 60, 22 * 60))
        gone = None if chance.random() < 0.04 else came + timedelta(minutes=chance.randrange(20, 170))
        studio = person[2] if chance.random() < 0.8 else chance.choice(STUDIOS[:4])[0]
        rows.append((9999 if n % 400 == 7 else person[0], studio, came, gone))
    rows.sort(key=lambda one: (one[2], one[0]))
    columns = ["member_no", "studio_id", "entered_at", "left_at"]
    write("visits", ["visit_id", *columns], [(n + 1, *one) for n, one in enumerate(rows)])


def invoices(chance: random.Random, people: list[tuple[Any, ...]]) -> None:
    rows = []
    for month in range(2, 6):
        for person in people[:110]:
            if chance.random() < 0.85:
                issued = date(2026, month, chance.choice([1, 1, 15]))
                amount = {"B": 2900, "P": 4900, "U": 7900}[person[3]] + chance.choice([0, 0, 0, 500])
                paid = None if chance.random() < 0.12 else issued + timedelta(days=chance.randrange(0, 40))
                rows.append((person[0], issued, amount, paid))
    rows.sort(key=lambda one: (one[1], one[0]))
    columns = ["member_no", "issued_on", "amount_cents", "paid_on"]
    write("invoices", ["invoice_id", *columns], [(n + 1, *one) for n, one in enumerate(rows)])


def main() -> None:
    chance = random.Random(53)
    write("studios", ["studio_id", "studio_name", "city", "opened_on"], STUDIOS)
    people = members(chance)
    reservations(chance, classes(chance), people)
    visits(chance, people)
    invoices(chance, people)


if __name__ == "__main__":
    main()
