"""Makes the data of the ski resort: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2025, 12, 6)
DAYS = 121
LIFTS: list[tuple[Any, ...]] = [
    (1, "Sunrise Express", "CHAIR", "Sunny Side", 1450, 2010, 2400, 2017, True),
    (2, "Old Mill", "DRAG", "Village", 1180, 1290, 700, 1974, False),
    (3, "Kids Park", "DRAG", "Village", 1180, 1215, 500, 2009, False),
    (4, "Valley Gondola", "GOND", "Village", 1180, 1820, 2800, 2014, False),
    (5, "Eagle Chair", "CHAIR", "North Face", 1820, 2340, 1800, 1998, False),
    (6, "Summit Gondola", "GOND", "North Face", 1820, 2610, 2200, 2021, True),
    (7, "Larch Chair", "CHAIR", "Sunny Side", 1390, 1760, 1500, 1986, False),
    (8, "Glacier Drag", "DRAG", "North Face", 2380, 2650, 900, 1991, False),
    (9, "Forest Chair", "CHAIR", None, 1300, 1820, 2400, 2019, True),
    (10, "Border Chair", "CHAIR", "North Face", 2010, 2420, 1600, 2003, False),  # never opened this winter
]
STORMS = {date(2025, 12, 20), date(2026, 1, 14), date(2026, 1, 15), date(2026, 2, 27)}  # all lifts stay shut
PRICES = {"half": 41.5, "day": 56.0, "week": 279.0, "season": 645.0}
COACHES = ["Anna Huber", "Luca Brunner", "Marek Novak", "Sofie Dahl", "Tom Egger", "Ines Prat"]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def passes(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        if day in STORMS:
            continue
        holiday = date(2025, 12, 24) <= day <= date(2026, 1, 6) or date(2026, 2, 7) <= day <= date(2026, 2, 22)
        for _ in range(chance.randrange(3, 9) + (5 if holiday else 0) + (3 if day.weekday() >= 5 else 0)):
            age = chance.choices(["adult", "child", "senior"], [62, 28, 10])[0]
            kind = chance.choices(["half", "day", "week", "season"], [15, 60, 21, 4 if n < 40 else 1])[0]
            point = chance.choices(["window", "web", "hotel"], [48, 40, 12])[0]
            price = round(PRICES[kind] * {"adult": 1, "child": 0.5, "senior": 0.9}[age], 2)
            early = chance.randrange(0, 12) if point == "web" else 0
            sold = datetime(day.year, day.month, day.day, chance.randrange(8, 15), chance.randrange(60))
            sold -= timedelta(days=early)
            back = sold.date() + timedelta(days=chance.randrange(1, 9)) if chance.random() < 0.05 else None
            if chance.random() < 0.02:
                price = 0.0  # for guests of the house
            rows.append((age, kind, sold, day, price, point, back))
    rows.sort(key=lambda one: (one[2], one[3], one[4]))
    columns = ["age_group", "pass_kind", "sold_at", "first_day", "price_eur", "sales_point", "refunded_on"]
    numbered = [(n + 70001, *one) for n, one in enumerate(rows)]
    write("passes", ["pass_id", *columns], numbered)
    return numbered


def rides(chance: random.Random, sold: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for number, age, kind, _sold, first, _price, _point, back in sold:
        if back or chance.random() < 0.03:
            continue  # given back, or never used
        length = {"half": 1, "day": 1, "week": 6, "season": 40}[kind]
        used = [n for n in range(length) if chance.random() < {"week": 0.5, "season": 0.15}.get(kind, 1)]
        for n in used:
            day = first + timedelta(days=n)
            if day in STORMS or day >= BEGIN + timedelta(days=DAYS):
                continue
            weights = [10, 6, 14, 9, 5, 4, 5, 2, 6] if age == "child" else [16, 3, 1, 18, 11, 14, 8, 5, 12]
            for _ in range(chance.randrange(2, 6)):
                at = datetime(day.year, day.month, day.day, chance.randrange(8, 16), chance.randrange(60))
                lift = chance.choices(LIFTS[:9], weights)[0][0]
                rows.append((number, None if chance.random() < 0.01 else lift, at))
    rows.sort(key=lambda one: (one[2], one[0], one[1] or 0))
    write("rides", ["ride_id", "pass_id", "lift_id", "scanned_at"], [(n + 1, *one) for n, one in enumerate(rows)])


def snow(chance: random.Random) -> None:
    rows: list[tuple[Any, ...]] = []
    base = {"valley": 35, "summit": 110}
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        fall = chance.choices([0, 4, 9, 18, 33], [60, 15, 12, 8, 5])[0]
        for place in ("valley", "summit"):
            if chance.random() < 0.03:
                continue  # the gauge was not read
            fresh = 0 if fall == 0 else max(fall - (6 if place == "valley" else 0) + chance.randrange(-2, 3), 1)
            base[place] = max(base[place] + fresh - chance.randrange(0, 5), 12)
            cold = round((-9.0 if place == "summit" else -1.5) + 7 * abs(n - 50) / 70 + chance.uniform(-5, 5), 1)
            wind = None if chance.random() < 0.04 else int(chance.lognormvariate(2.9 if place == "summit" else 2, 0.6))
            rows.append((day, place, base[place], fresh, cold, wind))
    write("snow_reports", ["report_day", "station", "base_cm", "fresh_cm", "temp_c", "wind_kmh"], rows)


def stoppages(chance: random.Random) -> None:
    rows: list[tuple[Any, ...]] = []
    for _ in range(170):
        day = BEGIN + timedelta(days=chance.randrange(DAYS))
        at = datetime(day.year, day.month, day.day, chance.randrange(8, 16), chance.randrange(60))
        lift = chance.choices(LIFTS[:9], [10, 14, 3, 9, 22, 16, 12, 20, 0])[0]
        cause = chance.choices(["WIND", "TECH", "POWER", "RESC"], [42, 38, 8, 12])[0]
        again: datetime | None = at + timedelta(minutes=int(chance.lognormvariate(3, 0.9)) + 1)
        if (lift[0] == 2 and day > date(2026, 3, 20)) or chance.random() < 0.02:
            again = None
        rows.append((lift[0], at, again, None if chance.random() < 0.03 else cause))
    rows.sort(key=lambda one: (one[1], one[0]))
    columns = ["stop_id", "lift_id", "stopped_at", "restarted_at", "cause"]
    write("stoppages", columns, [(n + 1, *one) for n, one in enumerate(rows)])


def lessons(chance: random.Random) -> None:
    rows: list[tuple[Any, ...]] = []
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        if day in STORMS:
            continue
        for _ in range(chance.randrange(1, 6)):
            at = datetime(day.year, day.month, day.day, chance.choice([9, 10, 13, 14]), chance.choice([0, 30]))
            private = chance.random() < 0.35
            hours = chance.choice([1.0, 1.5, 2.0]) if private else chance.choice([2.0, 2.0, 4.0])
            pupils = chance.randrange(1, 4) if private else chance.randrange(3, 12)
            sport = chance.choices(["S", "B"], [73, 27])[0]
            level = chance.choices([1, 2, 3], [55, 32, 13])[0]
            fee = round(hours * (70 + 10 * pupils) if private else hours * 19.5 * pupils, 2)
            who = None if chance.random() < 0.02 else chance.choices(COACHES, [20, 18, 16, 14, 11, 6])[0]
            rows.append((who, sport, level, at, hours, pupils, fee, private, chance.random() < 0.07))
    rows.sort(key=lambda one: (one[3], one[6]))
    columns = ["coach", "sport", "skill_level", "starts_at", "hours", "pupils", "fee_eur", "is_private", "is_cancelled"]
    write("lessons", ["lesson_id", *columns], [(n + 301, *one) for n, one in enumerate(rows)])


def main() -> None:
    chance = random.Random(2610)
    columns = ["lift_id", "lift_name", "lift_type", "area", "bottom_m", "top_m", "seats_per_hour", "built_year"]
    write("lifts", [*columns, "heated_seats"], LIFTS)
    rides(chance, passes(chance))
    snow(chance)
    stoppages(chance)
    lessons(chance)


if __name__ == "__main__":
    main()
