"""Makes the data of the opticians: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2025, 9, 1)
LAST = datetime(2026, 10, 31, 20, 0)
SHOPS: list[tuple[Any, ...]] = [
    ("MKT", "Market Square", "Linden", date(2009, 3, 2), 3, True),
    ("STN", "Station Arcade", "Linden", date(2014, 10, 1), 2, False),
    ("QUA", "THE QUAY", "Porthaven", date(2018, 5, 14), 2, True),
    ("MAL", "Westgate Mall", "Westgate", date(2022, 11, 7), 4, False),
    ("HIL", "Hill Road", "Porthaven", date(2026, 10, 19), 1, False),  # no test and no order yet
]
STAFF = {
    "MKT": ["Agnes Bauer", "Ravi Menon", "Lotte Vos"],
    "STN": ["Ravi Menon", "Piet Claes"],
    "QUA": ["Nora Quist", "Sam Adeyemi"],
    "MAL": ["Piet Claes", "Ines Prado", "Sam Adeyemi"],
}
BRANDS = ["Lumen", "Kestrel", "OAKRIDGE", "Petit Loup", "Vanta"]
FIRST = ["Anna", "Bram", "Chidi", "Dora", "Emil", "Fatima", "Georg", "Hanna", "Ivo", "Jana", "Karl", "Lin"]
LAST_NAMES = ["Albers", "Brandt", "Costa", "Dahl", "Ekholm", "Fischer", "Gruber", "Hoang", "Ivers", "Janssen", "Kaya"]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def moment(chance: random.Random, day: date) -> datetime:
    return datetime(day.year, day.month, day.day, chance.randrange(9, 19), chance.randrange(60), chance.randrange(60))


def customers(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(420):
        joined = BEGIN - timedelta(days=int(chance.expovariate(1 / 500))) + timedelta(days=chance.randrange(0, 390))
        born = None if chance.random() < 0.06 else date(1938, 1, 1) + timedelta(days=chance.randrange(0, 29500))
        town = chance.choices(["Linden", "Porthaven", "Westgate", "Old Mill", None], [38, 27, 19, 10, 6])[0]
        plan = chance.choices([None, "BAS", "PLU", "EMP"], [52, 24, 14, 10])[0]
        name = f"{chance.choice(FIRST)} {chance.choice(LAST_NAMES)}"
        rows.append((7001 + n, name, born, town, joined, plan, chance.random() < 0.64))
    return rows


def frames(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(64):
        brand = chance.choices(BRANDS, [30, 24, 20, 14, 12])[0]
        material = chance.choices(["ACE", "MET", "TIT", "WOD"], [44, 32, 17, 7])[0]
        price = chance.choice([49, 79, 99, 129, 159, 199, 249, 329]) + (60 if material == "TIT" else 0)
        ended = date(2026, 1, 1) + timedelta(days=chance.randrange(0, 290)) if chance.random() < 0.34 else None
        rows.append(
            (
                f"F{100 + n}",
                f"{brand} {chance.randrange(11, 99)}",
                brand,
                material,
                float(price),
                brand == "Petit Loup",
                ended,
            )
        )
    return rows


def eye_tests(chance: random.Random, people: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range((LAST.date() - BEGIN).days + 1):
        day = BEGIN + timedelta(days=n)
        if day.weekday() == 6 or chance.random() < 0.05:  # closed
            continue
        for _ in range(chance.choices([1, 2, 4, 6], [24, 36, 27, 13])[0]):
            shop = chance.choices(["MKT", "STN", "QUA", "MAL"], [36, 18, 24, 22])[0]
            who = chance.choice(people[:350])[0] if chance.random() < 0.94 else None
            kind = chance.choices(["STD", "KID", "LEN", "DRV"], [58, 15, 17, 10])[0]
            fee = None if kind == "KID" or chance.random() < 0.12 else {"STD": 29.0, "LEN": 42.5, "DRV": 19.0}[kind]
            result = chance.choices(["SAM", "NEW", "REF", None], [34, 46, 11, 9])[0]
            pressure = None if kind == "DRV" or chance.random() < 0.15 else round(chance.gauss(15.6, 3.1), 1)
            rows.append(
                (
                    who,
                    shop,
                    chance.choice(STAFF[shop]),
                    moment(chance, day),
                    kind,
                    chance.randrange(12, 56),
                    fee,
                    result,
                    pressure,
                )
            )
    rows.sort(key=lambda one: one[3])
    return [(30001 + n, *row) for n, row in enumerate(rows)]


def orders(chance: random.Random, tests: list[tuple[Any, ...]], models: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for test in tests:
        if test[1] is None or chance.random() > (0.74 if test[8] == "NEW" else 0.3):
            continue
        at = moment(chance, test[4].date() + timedelta(days=chance.randrange(1, 7)))
        if chance.random() < 0.6:  # at once, after the test
            at = test[4] + timedelta(minutes=chance.randrange(57, 90))
        frame = chance.choice(models[:58]) if chance.random() < 0.83 else None
        lens = chance.choices(["SNG", "PRG", "BIF", "SUN"], [50, 29, 8, 13])[0]
        coating = chance.choices([None, "ARF", "BLU", "HRD"], [26, 40, 20, 14])[0]
        price = {"SNG": 8900, "PRG": 32900, "BIF": 18900, "SUN": 12900}[lens] + chance.randrange(0, 9) * 1150
        ready: datetime | None = moment(chance, at.date() + timedelta(days=int(chance.expovariate(1 / 5)) + 1))
        got: datetime | None = None
        if ready and chance.random() < 0.93:
            got = moment(chance, ready.date() + timedelta(days=int(chance.expovariate(1 / 4)) + 1))
        state = "COL"
        if chance.random() < 0.06:
            ready, got, state = None, None, "CAN"
        elif ready is not None and ready > LAST:
            ready, got, state = None, None, "LAB"
        elif got is None or got > LAST:
            got, state = None, "RDY"
        paid = None if frame is None else int(frame[4] * 100 * chance.choice([1, 1, 1, 0.8]))
        known = test[0] if chance.random() < 0.82 else None
        rows.append((test[1], test[2], known, frame and frame[0], at, lens, coating, price, paid, ready, got, state))
    rows.sort(key=lambda one: one[4])
    return [(50001 + n, *row) for n, row in enumerate(rows) if row[4] <= LAST]


def repairs(chance: random.Random, sold: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for order in sold:
        if order[11] is None or chance.random() > 0.34:
            continue
        for _ in range(chance.choices([1, 2], [82, 18])[0]):
            at = moment(chance, order[11].date() + timedelta(days=int(chance.expovariate(1 / 80)) + 1))
            if at > LAST:
                continue
            back: datetime | None = at + timedelta(minutes=10)
            if chance.random() < 0.6:
                back = moment(chance, at.date() + timedelta(days=int(chance.expovariate(1 / 3)) + 1))
            back = None if back and (back > LAST or chance.random() < 0.04) else back
            job = chance.choices(["SCR", "HNG", "NOS", "LNS"], [38, 22, 25, 15])[0]
            cost = None if chance.random() < 0.36 else round(chance.uniform(5, 35) + (60 if job == "LNS" else 0), 2)
            stars = (
                None
                if back is None or chance.random() < 0.3
                else chance.choices([1, 2, 3, 4, 5], [5, 9, 17, 32, 37])[0]
            )
            known = order[0] if chance.random() < 0.9 else None
            rows.append(
                (
                    known,
                    order[2] if chance.random() < 0.85 else "MKT",
                    at,
                    back,
                    job,
                    cost,
                    chance.random() < 0.3,
                    stars,
                )
            )
    rows.sort(key=lambda one: one[2])
    names = [
        "repair_no",
        "order_no",
        "shop_code",
        "brought_at",
        "returned_at",
        "job",
        "charge_eur",
        "sent_away",
        "rating",
    ]
    write("repairs", names, [(801 + n, *row) for n, row in enumerate(rows)])


def main() -> None:
    chance = random.Random(34101)
    write("shops", ["shop_code", "shop_name", "town", "opened_on", "test_rooms", "has_lab"], SHOPS)
    people = customers(chance)
    names = ["customer_no", "full_name", "born_on", "home_town", "joined_on", "health_plan", "wants_reminders"]
    write("customers", names, people)
    models = frames(chance)
    names = ["frame_id", "model", "brand", "material", "list_price_eur", "for_children", "discontinued_on"]
    write("frames", names, models)
    tests = eye_tests(chance, people)
    names = [
        "test_id",
        "customer_no",
        "shop_code",
        "optometrist",
        "tested_at",
        "test_kind",
        "minutes",
        "fee_eur",
        "result",
    ]
    write("eye_tests", [*names, "eye_pressure"], tests)
    sold = orders(chance, tests, models)
    names = [
        "order_no",
        "customer_no",
        "shop_code",
        "test_id",
        "frame_id",
        "ordered_at",
        "lens",
        "coating",
        "lens_cents",
    ]
    write("orders", [*names, "frame_cents", "ready_at", "collected_at", "status"], sold)
    repairs(chance, sold)


if __name__ == "__main__":
    main()
