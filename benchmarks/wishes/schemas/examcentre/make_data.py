"""Makes the data of the exam centre: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
TONGUES = ["Arabic", "Turkish", "Ukrainian", "Italian", "Vietnamese", "Hindi", None]
PRICES = {"A2": 120.0, "B1": 160.0, "B2": 190.0, "C1": 230.0}
GIVEN = ["Aylin", "Bilal", "Carla", "Dmytro", "Elif", "Farid", "Gita", "Hoa", "Irina", "Jamal", "Khanh", "Luca"]
FAMILY = ["Demir", "Haddad", "Rossi", "Shevchenko", "Nguyen", "Sharma", "Kaya", "Bianchi", "Tran", "Aziz", "Melnyk"]

EXAMINERS = [
    (1, "Mary Holt", "ENG", "false", date(2027, 3, 31)),
    (2, "Paul Kern", "GER", "true", date(2026, 8, 31)),
    (3, "Anne Duval", "FRE", "true", date(2026, 1, 31)),
    (4, "Rita Soler", "SPA", "false", date(2028, 12, 31)),
    (5, "Jack Byrne", "ENG", "true", date(2026, 5, 31)),
    (6, "Uta Lang", "GER", "false", date(2029, 6, 30)),
    (7, "Olaf Brede", "GER", "false", date(2027, 9, 30)),
    (8, "Luc Perrin", "FRE", "true", date(2025, 11, 30)),
]
VENUES = [("Main building", None), ("Main building", None), ("Town hall", 240.0), ("City college", 180.0)]


def write(name: str, columns: str, rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns.split())
        writer.writerows(rows)


def text(flag: bool) -> str:
    return "true" if flag else "false"


def candidates(chance: random.Random) -> list[tuple[Any, ...]]:
    names = [f"{given} {family}" for given in GIVEN for family in FAMILY]
    return [
        (
            n,
            name,
            chance.choice(TONGUES),
            date(1975, 1, 1) + timedelta(days=chance.randrange(12000)),
            date(2025, 1, 2) + timedelta(days=chance.randrange(500)),
            chance.choice(["SCH", "SCH", "WEB", "FRD", "EMP"]),
            text(chance.random() < 0.4),
        )
        for n, name in enumerate(chance.sample(names, 130), start=1)
    ]


def sittings(chance: random.Random) -> list[tuple[Any, ...]]:
    found = []
    for _ in range(45):
        day = date(2025, 2, 1) + timedelta(days=chance.randrange(510))
        venue, hire = chance.choice(VENUES)
        tongue = chance.choice(["ENG", "GER", "GER", "FRE", "SPA"])
        level = chance.choice(list(PRICES))
        cost = None if hire is None else hire + chance.choice([0, 0, 30])
        found.append((tongue, level, day, venue, chance.choice([8, 12, 16, 20]), cost, text(chance.random() < 0.1)))
    found.sort(key=lambda row: row[2])
    return [(f"S{n:02}", *row) for n, row in enumerate(found, start=1)]


def bookings(chance: random.Random, exams: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for exam in exams[:42]:  # the last ones have no booking yet
        for person in chance.sample(range(1, 121), chance.randint(3, exam[5] - 1)):
            day = exam[3] - timedelta(days=chance.randint(14, 70))
            paid = day + timedelta(days=chance.randint(0, 40)) if chance.random() < 0.88 else None
            price = PRICES[exam[2]]
            discount = float(chance.choice([10, 20, 40])) if chance.random() < 0.2 else None
            back = price - (discount or 0) if paid and exam[7] == "true" else None
            if paid and back is None and chance.random() < 0.04:
                back = 50.0
            way = chance.choice(["CRD", "CRD", "PPL", "INV", "CSH"]) if paid else None
            found.append((person, exam[0], day, paid, price, discount, back, way))
    found.sort(key=lambda row: (row[2], row[1], row[0]))
    return [(n, *row) for n, row in enumerate(found, start=1)]


def results(
    chance: random.Random, exams: list[tuple[Any, ...]], booked: list[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    by_id = {exam[0]: exam for exam in exams}
    found: list[tuple[Any, ...]] = []
    for booking in booked:
        exam = by_id[booking[2]]
        if exam[7] == "true":
            continue
        absent = chance.random() < 0.07
        skill = chance.gauss(66, 14)
        for part in ("LIS", "REA", "WRI", "SPK"):
            markers = [one[0] for one in EXAMINERS[:7] if one[2] == exam[1]]
            points = None if absent else round(min(100.0, max(5.0, chance.gauss(skill, 9))), 1)
            at = datetime.combine(exam[3], datetime.min.time()) + timedelta(
                days=chance.randint(1, 21), hours=chance.randint(8, 19), minutes=chance.randrange(60)
            )
            passed = points is not None and points >= 60
            found.append((booking[1], exam[0], part, chance.choice(markers), at, points, text(passed)))
    found.sort(key=lambda row: (row[4], row[1], row[2]))
    return [(n, *row) for n, row in enumerate(found, start=1)]


def main() -> None:
    chance = random.Random(93)
    write(
        "candidates",
        "candidate_no full_name mother_tongue born_on signed_up_on heard_of_us newsletter",
        candidates(chance),
    )
    write("examiners", "examiner_id examiner_name teaches freelance licensed_until", EXAMINERS)
    exams = sittings(chance)
    write("sittings", "sitting_id exam_language level held_on venue seats room_hire_eur cancelled", exams)
    booked = bookings(chance, exams)
    write(
        "results",
        "result_no candidate_no sitting_id part examiner_id marked_at points passed",
        results(chance, exams, booked),
    )
    write(
        "fees",
        "fee_no candidate_no sitting_id billed_on paid_on fee_eur discount_eur refund_eur paid_with",
        booked,
    )


if __name__ == "__main__":
    main()
