"""Makes the data of the music school: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2026, 1, 5)
SUBJECTS = ["PNO", "GTR", "VIO", "DRM", "SNG"]
DISTRICTS = ["Hilltop", "Riverside", "Old Town", None]
ROOMS = ["Bach", "Clara", "Ella", "Miles"]
FEES = {"PNO": 96.0, "GTR": 78.0, "VIO": 92.0, "DRM": 84.0, "SNG": 70.0}


def write(name: str, columns: str, rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns.split())
        writer.writerows(rows)


def text(flag: bool) -> str:
    return "true" if flag else "false"


def teachers(chance: random.Random) -> list[tuple[Any, ...]]:
    names = ["Abel", "Bruno", "Carla", "Dora", "Emil", "Frida", "Gil", "Hanna"]
    return [
        (
            name[:2].upper(),
            f"{name} {chance.choice(['Stein', 'Wolf', 'Roth'])}",
            SUBJECTS[n % 5],
            date(2016, 1, 1) + timedelta(days=chance.randrange(3500)),
            date(2026, 4, 30) if name == "Gil" else None,
            round(chance.uniform(19, 34), 2),
        )
        for n, name in enumerate(names)
    ]


def pupils(chance: random.Random) -> list[tuple[Any, ...]]:
    firsts, lasts = ["Mia", "Noah", "Olga", "Paul", "Rosa"], ["Kern", "Lux", "Marx", "Noll", "Otto", "Pape"]
    rows: list[tuple[Any, ...]] = []
    for n in range(1, 81):
        joined = date(2022, 1, 1) + timedelta(days=chance.randrange(1590))
        rows.append(
            (
                n,
                f"{chance.choice(firsts)} {chance.choice(lasts)}",
                date(1960, 1, 1) + timedelta(days=int(chance.triangular(0, 20500, 19500))),
                chance.choice(DISTRICTS),
                joined,
                date(2026, 2, 1) + timedelta(days=chance.randrange(110)) if chance.random() < 0.15 else None,
                chance.choice(["FRD", "WEB", "SCH", "FLY"]),
                text(chance.random() < 0.7),
            )
        )
    return rows


def main() -> None:
    chance = random.Random(37)
    staff = teachers(chance)
    learners = pupils(chance)
    courses: list[tuple[Any, ...]] = []
    lessons: list[tuple[Any, ...]] = []
    for n in range(1, 96):
        subject = chance.choice(SUBJECTS)
        teacher = chance.choice([t for t in staff[:7] if t[2] == subject])
        starts = date(2025, 6, 1) + timedelta(days=chance.randrange(330))
        ends = starts + timedelta(days=chance.randint(60, 200)) if chance.random() < 0.35 else None
        trial = chance.random() < 0.2
        fee = 0.0 if trial else FEES[subject] + chance.choice([0, 0, 6, 12])
        courses.append(
            (n, chance.randint(1, 72), teacher[0], subject, chance.randint(1, 5), starts, ends, fee, text(trial))
        )
        day = max(starts, BEGIN) + timedelta(days=chance.randrange(7))
        while day < min(ends or date(2026, 6, 1), date(2026, 6, 1)):
            status = chance.choices(["GVN", "CXP", "CXT", "NSH"], weights=[14, 2, 1, 1])[0]
            lessons.append(
                (
                    len(lessons) + 1,
                    n,
                    chance.choice(ROOMS),
                    datetime.combine(day, datetime.min.time())
                    + timedelta(hours=chance.randint(10, 20), minutes=chance.choice([0, 15, 30])),
                    chance.choice([30, 45, 45, 60]),
                    status,
                    text(chance.random() < 0.6) if status == "GVN" else None,
                    round(chance.uniform(3, 10), 1) if status == "GVN" and chance.random() < 0.7 else None,
                )
            )
            day += timedelta(days=chance.choice([7, 7, 14]))
    loans: list[tuple[Any, ...]] = []
    for n in range(1, 91):
        lent = BEGIN + timedelta(days=chance.randrange(140))
        due = lent + timedelta(days=chance.choice([14, 28, 56]))
        instrument = chance.choice(["GTR", "VIO", "CEL", "FLT"])
        loans.append(
            (
                n,
                chance.randint(1, 60),
                instrument,
                f"{instrument}-{chance.randint(1, 6)}",
                lent,
                due,
                due + timedelta(days=chance.randint(-12, 9)) if chance.random() < 0.8 else None,
                chance.choice([40.0, 60.0, 100.0]),
                round(chance.uniform(8, 140), 2) if chance.random() < 0.2 else None,
            )
        )
    payments = [
        (
            n,
            chance.randint(1, 75),
            BEGIN + timedelta(days=chance.randrange(145)),
            round(chance.uniform(6, 210), 2),
            chance.choice(["TRF", "CSH", "DBT", "DBT"]),
            chance.choice(["FEE", "FEE", "FEE", "DEP", "SHT"]),
        )
        for n in range(1, 421)
    ]
    write("teachers", "teacher_id teacher_name main_instrument hired_on left_on lesson_pay_eur", staff)
    write("pupils", "pupil_id pupil_name born_on district joined_on left_on heard_from photo_allowed", learners)
    write("courses", "course_id pupil_id teacher_id subject level starts_on ends_on monthly_fee_eur is_trial", courses)
    write("lessons", "lesson_id course_id room begins_at minutes status practised mark", lessons)
    write("loans", "loan_id pupil_id instrument serial_no lent_on due_on returned_on deposit_eur damage_eur", loans)
    write("payments", "payment_id pupil_id paid_on amount_eur way purpose", payments)


if __name__ == "__main__":
    main()
