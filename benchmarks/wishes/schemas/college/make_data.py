"""Makes the data of the college: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
COURSES = [
    ("EN1", "English for everyday", "LNG", "B", 14, 180, date(2026, 1, 12), date(2026, 6, 30)),
    ("EN3", "English for work", "LNG", "A", 10, 240, date(2026, 1, 13), date(2026, 6, 30)),
    ("ES1", "Spanish from zero", "LNG", "B", 16, 180, date(2026, 2, 2), date(2026, 6, 20)),
    ("PYT", "Python basics", "ITX", "B", 12, 320, date(2026, 1, 14), date(2026, 5, 30)),
    ("SQL", "Databases", "ITX", "I", 10, 350, date(2026, 3, 4), None),
    ("WTR", "Watercolour", "ART", "B", 8, 150, date(2026, 2, 6), date(2026, 5, 15)),
    ("POT", "Pottery", "ART", "I", 8, 210, date(2026, 2, 5), None),
    ("BKK", "Bookkeeping", "BIZ", "I", 20, 290, date(2026, 1, 19), date(2026, 4, 30)),
    ("NEG", "How to negotiate", "BIZ", "A", 12, 260, date(2026, 9, 1), None),
]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def people(chance: random.Random) -> None:
    names = ["Ada Quist", "Bram Voss", "Carla Nye", "Dirk Ames", "Elsa Moor", "Frits Hale", "Gina Post", "Hugo Rast"]
    subjects = ["LNG", "LNG", "ITX", "ITX", "ART", "BIZ", "ART", "BIZ"]
    pay = [28, 31, 45, 40, 26, 38, 30, 52]
    rows = [(n + 1, one, subjects[n], pay[n], n in {2, 4, 7}) for n, one in enumerate(names)]
    write("teachers", ["teacher_id", "teacher_name", "subject", "hourly_eur", "is_freelance"], rows)
    students = []
    for n in range(130):
        first = chance.choice(["Alma", "Bert", "Cleo", "Dean", "Edda", "Finn"])
        name = f"{first} {chance.choice(['Amsel', 'Bach', 'Clay', 'Dohm'])} {n}"
        born = date(1950, 1, 1) + timedelta(days=chance.randrange(20000))
        town = chance.choice(["Oldham", "Oldham", "New Ferry", "St Agnes", "Brook", None])
        registered = date(2024, 6, 1) + timedelta(days=chance.randrange(600))
        students.append((1100 + n, name, town, born, registered, chance.random() < 0.3))
    write("students", ["student_no", "student_name", "town", "born_on", "registered_on", "pays_reduced"], students)


def enrolments(chance: random.Random) -> dict[str, list[int]]:
    rows: list[tuple[Any, ...]] = []
    takers: dict[str, list[int]] = {one[0]: [] for one in COURSES}
    for code, *_, seats, fee, begins, _ends in COURSES[:8]:
        for student in chance.sample(range(1100, 1215), seats * 3):
            day = begins - timedelta(days=chance.randrange(1, 70))
            dropped = begins + timedelta(days=chance.randrange(5, 80)) if chance.random() < 0.16 else None
            paid = None if chance.random() < 0.08 else fee * chance.choice([100, 100, 60]) // 100
            rows.append(
                (student, code, day, dropped, paid, chance.choices(["WEB", "FRD", "ADV", "FLY"], [40, 25, 20, 15])[0])
            )
            takers[code].append(student)
    rows.sort(key=lambda one: (one[2], one[0], one[1]))
    columns = ["enrolment_id", "student_no", "course_code", "enrolled_on", "dropped_on", "paid_eur", "source"]
    write("enrolments", columns, [(n + 1, *one) for n, one in enumerate(rows)])
    return takers


def lessons(chance: random.Random, takers: dict[str, list[int]]) -> None:
    rows, away = [], []
    for code, _title, subject, _level, _seats, _fee, begins, ends in COURSES[:8]:
        own = {"LNG": [1, 2], "ITX": [3, 4], "ART": [5], "BIZ": [6]}[subject]
        day, last = begins, ends or date(2026, 6, 30)
        while day <= last:
            at = datetime(day.year, day.month, day.day, chance.choice([17, 18, 18, 19]), chance.choice([0, 30]))
            form = chance.choices(["R", "O", "H"], [60, 25, 15])[0]
            room = None if form == "O" else chance.choice(["A1", "A2", "B 7", "Studio"])
            teacher = None if chance.random() < 0.07 else chance.choice(own)
            rows.append((code, teacher, at, at + timedelta(minutes=chance.choice([90, 90, 120, 60])), room, form))
            day += timedelta(days=7 if chance.random() < 0.85 else 5)
    rows.sort(key=lambda one: (one[2], one[0]))
    columns = ["lesson_id", "course_code", "teacher_id", "starts_at", "ends_at", "room", "format"]
    write("lessons", columns, [(301 + n, *one) for n, one in enumerate(rows)])
    for n, one in enumerate(rows):
        missing = chance.sample(takers[one[0]], chance.randrange(1, 9))
        away += [(301 + n, student, *excuse(chance)) for student in missing]
    columns = ["absence_id", "lesson_id", "student_no", "reason", "is_excused"]
    write("absences", columns, [(n + 1, *one) for n, one in enumerate(away)])


def excuse(chance: random.Random) -> tuple[str, bool]:
    return chance.choices(["ILL", "WRK", "UNK"], [40, 35, 25])[0], chance.random() < 0.6


def tests(chance: random.Random, takers: dict[str, list[int]]) -> None:
    rows = []
    for code, students in takers.items():
        for student in students:
            for _ in range(chance.choice([0, 1, 1, 2])):
                at = datetime(2026, 2, 20) + timedelta(days=chance.randrange(125), minutes=chance.randrange(1020, 1260))
                points = None if chance.random() < 0.05 else chance.randrange(20, 101)
                rows.append((student, code, at, points, None if points is None else points >= 50))
    rows.sort(key=lambda one: (one[2], one[0]))
    columns = ["test_id", "student_no", "course_code", "taken_at", "points", "is_passed"]
    write("tests", columns, [(n + 1, *one) for n, one in enumerate(rows)])


def main() -> None:
    chance = random.Random(911)
    columns = ["course_code", "title", "subject", "level", "seats", "fee_eur", "begins_on", "ends_on"]
    write("courses", columns, COURSES)
    people(chance)
    takers = enrolments(chance)
    lessons(chance, takers)
    tests(chance, takers)


if __name__ == "__main__":
    main()
