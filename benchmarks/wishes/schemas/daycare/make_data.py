"""Makes the data of the daycare: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2026, 1, 5)
LAST = date(2026, 10, 30)
ROOMS: list[tuple[Any, ...]] = [
    (1, "Ladybirds", 12, "GND", 48.5, True),
    (2, "HEDGEHOGS", 15, "GND", 55.0, True),
    (3, "Little Owls", 18, "UPP", 62.5, False),
    (4, "Foxes", 20, "UPP", 71.0, False),
    (5, "Garden Room", 8, "OUT", None, True),  # no child is in it
]
FIRST = ["Ada", "Ben", "Cleo", "Dov", "Elif", "Finn", "Gia", "Hugo", "Ivy", "Jon", "Kaya", "Leo", "Mina", "Noah"]
LAST_NAMES = ["Abbot", "Birk", "Castro", "DURAND", "Evans", "Fuchs", "Grant", "Hale", "Ito", "Jensen", "Kovac", "Lopez"]
CARERS = [
    "Marta Blum",
    "Jo Reed",
    "SAM OYE",
    "Lena Falk",
    "Tom Wirth",
    "Ines Duarte",
    "Pat Quinn",
    "Rosa Hill",
    "Ugo Neri",
]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def days() -> list[date]:
    every = [BEGIN + timedelta(days=n) for n in range((LAST - BEGIN).days + 1)]
    return [day for day in every if day.weekday() < 5]


def at(day: date, hour: int, minute: int) -> datetime:
    return datetime(day.year, day.month, day.day, hour, minute)


def families(chance: random.Random) -> list[tuple[Any, ...]]:
    return [
        (
            300 + n,
            f"{LAST_NAMES[n % 12]}{'' if n < 12 else ' ' + 'BCDE'[n // 12 - 1]}",
            chance.choices(["Ashby", "Millfield", "North End", "Old Town", None], [30, 25, 20, 20, 5])[0],
            chance.choice([True, False, False, None]),
            date(2024, 1, 8) + timedelta(days=chance.randrange(900)),
        )
        for n in range(48)
    ]


def children(chance: random.Random, homes: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(74):
        family = homes[n % 46]  # two families have no child yet
        born = date(2020, 9, 1) + timedelta(days=chance.randrange(1700))
        start = max(family[4], born + timedelta(days=300)) + timedelta(days=chance.randrange(60))
        left = start + timedelta(days=chance.randrange(90, 700)) if chance.random() < 0.25 else None
        room = None if start > date(2026, 4, 1) else chance.choices([1, 2, 3, 4], [22, 24, 28, 26])[0]
        allergy = chance.choices([None, "NUT", "MLK", "GLU", "EGG"], [70, 9, 9, 7, 5])[0]
        rows.append((1000 + n, family[0], room, FIRST[n % 14], born, start, left, allergy, chance.choice([3, 4, 5, 5])))
    return rows


def stays(chance: random.Random, small: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for day in days():
        for child in small:
            here = child[5] <= day and (child[6] is None or day <= child[6])
            if not here or chance.random() > 0.2:
                continue
            came = at(day, 7, 0) + timedelta(minutes=chance.randrange(150))
            gone = None if chance.random() < 0.01 else at(day, 14, 0) + timedelta(minutes=chance.randrange(240))
            by = None if gone is None else chance.choices(["MUM", "DAD", "GRA", "SIT"], [48, 30, 14, 8])[0]
            nap = None if chance.random() < 0.3 else chance.randrange(15, 125, 5)
            rows.append((child[0], came, gone, by, chance.random() < 0.8, nap))
    return [(20001 + n, *row) for n, row in enumerate(rows)]


def incidents(chance: random.Random, visits: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for visit in chance.sample(visits, 190):
        when = visit[2] + timedelta(minutes=chance.randrange(30, 280))
        kind = chance.choices(["BMP", "FAL", "BIT", "SCR"], [38, 27, 14, 21])[0]
        called = when + timedelta(minutes=chance.randrange(5, 90)) if chance.random() < 0.75 else None
        carer = None if chance.random() < 0.06 else chance.randrange(1, 9)  # the ninth has seen none
        place = chance.choice(["garden", "climbing frame", "stairs", "hall", None])
        rows.append((visit[1], carer, when, kind, place, chance.random() < 0.12, called))
    rows.sort(key=lambda one: one[2])
    columns = ["incident_no", "child_id", "carer_id", "happened_at", "kind", "place", "doctor", "parents_called_at"]
    write("incidents", columns, [(501 + n, *row) for n, row in enumerate(rows)])


def bills(chance: random.Random, homes: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for month in range(1, 11):
        for family in homes[:46]:
            if family[4] > date(2026, month, 1):
                continue
            issued = date(2026, month, 1) + timedelta(days=chance.randrange(5))
            care = chance.randrange(18000, 92000, 50)
            meals = None if chance.random() < 0.15 else chance.randrange(2000, 9000, 25)
            paid = issued + timedelta(days=chance.randrange(2, 60)) if chance.random() < 0.88 else None
            if paid and paid > LAST:
                paid = None
            method = None if paid is None else chance.choices(["DDB", "TRF", "CSH"], [55, 35, 10])[0]
            rows.append((family[0], issued, care, meals, issued + timedelta(days=21), paid, method))
    columns = ["bill_no", "family_id", "issued_on", "care_cents", "meals_cents", "due_on", "paid_on", "paid_by"]
    write("bills", columns, [(80001 + n, *row) for n, row in enumerate(rows)])


def main() -> None:
    chance = random.Random(351)
    write("rooms", ["room_id", "room_name", "places", "floor", "area_m2", "garden_door"], ROOMS)
    homes = families(chance)
    write("families", ["family_id", "surname", "town", "subsidised", "registered_on"], homes)
    small = children(chance, homes)
    columns = ["child_id", "family_id", "room_id", "first_name", "born_on", "started_on", "left_on", "allergy"]
    write("children", [*columns, "days_per_week"], small)
    carers = [
        (
            n + 1,
            name,
            chance.choice([1, 2, 3, 4, None]),
            chance.choice(["TEA", "AST", "AST", "TRN"]),
            chance.choice([20.0, 30.0, 38.5]),
            date(2019, 2, 1) + timedelta(days=chance.randrange(2500)),
        )
        for n, name in enumerate(CARERS)
    ]
    write("carers", ["carer_id", "carer_name", "room_id", "role", "weekly_hours", "hired_on"], carers)
    visits = stays(chance, small)
    columns = ["stay_no", "child_id", "arrived_at", "picked_up_at", "picked_up_by", "ate_lunch", "nap_minutes"]
    write("stays", columns, visits)
    incidents(chance, visits)
    bills(chance, homes)


if __name__ == "__main__":
    main()
