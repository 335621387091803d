"""Makes the data of the driving school: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = datetime(2026, 1, 12)
DAYS = 140
BRANCHES = [
    ("HBR", "Harbour", "Brookfield", date(2003, 4, 14)),
    ("STN", "Station", "Brookfield", date(2011, 9, 5)),
    ("OLD", "Old Town", "Westerlee", date(1994, 2, 1)),
    ("UNI", "University", "Millbank", date(2018, 10, 1)),
    ("AIR", "Airport", None, date(2026, 5, 18)),
]
MODELS = [("Golf", "P"), ("Clio", "P"), ("Zoe", "E"), ("Corsa", "P"), ("Octavia", "D"), ("ID.3", "E"), ("CB 500", "P")]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def names(chance: random.Random, count: int) -> list[str]:
    first = ["Anke", "Bas", "Cora", "Daan", "Esra", "Femke", "Gijs", "Hugo", "Iris", "Joost", "Karin", "Lars", "Mila"]
    last = [
        "Aalders",
        "Bakker",
        "Coster",
        "Dekker",
        "Evers",
        "Faber",
        "Groen",
        "Hendriks",
        "Jansen",
        "Kuiper",
        "Visser",
    ]
    every = [f"{one} {other}" for one in first for other in last]
    chance.shuffle(every)
    return every[:count]


def staff(chance: random.Random) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    write("branches", ["branch_code", "branch_name", "town", "opened_on"], BRANCHES)
    instructors = []
    for n, name in enumerate(names(chance, 17)):
        hired = date(2012, 3, 1) + timedelta(days=chance.randrange(5000))
        wage = None if n == 9 else chance.randrange(2100, 3400, 50)
        instructors.append((n + 1, name, BRANCHES[n % 4][0], hired, chance.random() < 0.35, wage))
    columns = ["instructor_id", "instructor_name", "branch_code", "hired_on", "teaches_motorbike", "hourly_wage_cents"]
    write("instructors", columns, instructors)
    cars = []
    for n in range(21):
        model, fuel = MODELS[n % 7]
        gearbox = "A" if fuel == "E" or chance.random() < 0.2 else "M"
        used = date(2017, 1, 9) + timedelta(days=chance.randrange(3200))
        plate = f"{'KLMNP'[n % 5]}{chance.choice('RSTVX')}-{chance.randrange(100, 999)}-{'BDFGH'[n % 5]}"
        cars.append((plate, model, gearbox, fuel, used, BRANCHES[n % 4][0]))
    write("cars", ["plate", "model", "gearbox", "fuel", "first_used_on", "branch_code"], cars)
    return instructors, cars


def learners(chance: random.Random) -> list[tuple[Any, ...]]:
    rows = []
    for n, name in enumerate(names(chance, 130)):
        branch = chance.choices(BRANCHES[:4], [40, 25, 20, 15])[0][0]
        town = chance.choices(["Brookfield", "Westerlee", "Millbank", "DUNE END", None], [44, 20, 18, 12, 6])[0]
        class_ = chance.choices("BAC", [74, 18, 8])[0]
        enrolled = date(2025, 2, 3) + timedelta(days=chance.randrange(460))
        birth = None if n % 17 == 4 else date(1968, 1, 1) + timedelta(days=14200 + chance.randrange(-9000, 900))
        left = enrolled + timedelta(days=chance.randrange(20, 300)) if chance.random() < 0.12 else None
        rows.append((2001 + n, name, branch, town, class_, enrolled, birth, left))
    columns = [
        "learner_id",
        "learner_name",
        "branch_code",
        "town",
        "licence_class",
        "enrolled_on",
        "birth_date",
        "left_on",
    ]
    write("learners", columns, rows)
    return rows


def lessons(
    chance: random.Random, staff_: list[tuple[Any, ...]], cars: list[tuple[Any, ...]], pupils: list[tuple[Any, ...]]
) -> None:
    rows = []
    for day in range(DAYS):
        if day % 7 == 6 or day in range(82, 86):  # Sundays, and a holiday
            continue
        for instructor in staff_[:16]:
            if instructor[0] == 5 and day < 60:  # on leave
                continue
            for hour in sorted(
                chance.sample([8, 9, 11, 13, 14, 16, 17, 18, 19, 20], chance.choice([0, 0, 1, 1, 2, 3]))
            ):
                starts = BEGIN + timedelta(days=day, hours=hour, minutes=chance.choice([0, 0, 15, 30]))
                pupil = pupils[int(chance.random() ** 1.6 * 112)]
                class_ = pupil[4]
                own = [car for car in cars if car[5] == instructor[2]]
                plate = None if class_ == "C" else chance.choice(own)[0]
                kind = chance.choices(["CTY", "MWY", "NGT", "PRK", None], [52, 20, 8, 17, 3])[0]
                kind = "NGT" if hour >= 19 and chance.random() < 0.7 else kind
                minutes = chance.choices([45, 60, 90, 120], [22, 44, 26, 8])[0]
                status = chance.choices("DCN", [84, 10, 6])[0]
                fee = minutes * {"B": 95, "A": 110, "C": 145}[class_] if status != "C" else 0
                rows.append((pupil[0], instructor[0], plate, starts, minutes, kind, status, fee))
    rows.sort(key=lambda one: (one[3], one[1]))
    columns = ["learner_id", "instructor_id", "plate", "starts_at", "minutes", "kind", "status", "fee_cents"]
    write("lessons", ["lesson_id", *columns], [(50001 + n, *one) for n, one in enumerate(rows)])


def exams(chance: random.Random, pupils: list[tuple[Any, ...]]) -> None:
    rows = []
    for pupil in pupils[:96]:
        for part, tries in (("T", chance.choice([1, 1, 2])), ("P", chance.choice([0, 1, 1, 2, 3]))):
            for _ in range(tries):
                day = chance.randrange(0, DAYS)
                taken = BEGIN + timedelta(
                    days=day - day % 7 + chance.randrange(0, 5), hours=chance.choice([8, 9, 10, 13, 14])
                )
                errors = chance.randrange(0, 14) if part == "P" else chance.randrange(0, 20)
                passed = errors < (6 if part == "P" else 9)
                examiner = chance.choices(["Mr Stone", "Ms Reed", "Mr Okafor", "Ms Lund", None], [30, 30, 20, 14, 6])[0]
                rows.append((pupil[0], taken, part, examiner, errors, passed))
                if passed:
                    break
    rows.sort(key=lambda one: (one[1], one[0]))
    rows = [one for n, one in enumerate(rows) if n == 0 or one[:2] != rows[n - 1][:2]]
    columns = ["learner_id", "taken_at", "part", "examiner", "errors", "is_passed"]
    write("exams", ["exam_id", *columns], [(901 + n, *one) for n, one in enumerate(rows)])


def payments(chance: random.Random, pupils: list[tuple[Any, ...]]) -> None:
    rows = []
    for _ in range(520):
        pupil = 2999 if chance.random() < 0.005 else pupils[int(chance.random() ** 1.4 * 121)][0]
        paid = BEGIN + timedelta(days=chance.randrange(DAYS), minutes=chance.randrange(8 * 60, 20 * 60))
        amount = chance.choice([4500, 5700, 8550, 11400, 19000, 20000, 28500, 38000]) + chance.randrange(0, 400, 5)
        method = chance.choices(["CSH", "CRD", "TRF", None], [22, 40, 34, 4])[0]
        rows.append((pupil, paid, amount, method))
    rows.sort(key=lambda one: (one[1], one[0]))
    write(
        "payments",
        ["payment_id", "learner_id", "paid_at", "amount_cents", "method"],
        [(n + 1, *one) for n, one in enumerate(rows)],
    )


def main() -> None:
    chance = random.Random(37)
    instructors, cars = staff(chance)
    pupils = learners(chance)
    lessons(chance, instructors, cars, pupils)
    exams(chance, pupils)
    payments(chance, pupils)


if __name__ == "__main__":
    main()
