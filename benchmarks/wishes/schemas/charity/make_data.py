"""Makes the data of the charity: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
CAMPAIGNS: list[tuple[Any, ...]] = [
    ("BOOK", "Books for all", "EDU", 20000, date(2025, 9, 1), date(2026, 1, 31)),
    ("WELL", "Clean water", "HLT", 35000, date(2025, 11, 10), None),
    ("FLOD", "After the flood", "REL", 50000, date(2026, 2, 3), date(2026, 5, 31)),
    ("TREE", "A thousand trees", "ENV", 12000, date(2026, 3, 1), None),
    ("PENS", "Pens and paper", "EDU", 4000, date(2026, 8, 1), None),
]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def donors(chance: random.Random) -> None:
    rows = []
    for n in range(150):
        name = f"{chance.choice(['Anja', 'Boris', 'Clara', 'Dino'])} {chance.choice(['Falk', 'Gerst', 'Holm'])} {n}"
        kind = chance.choices(["P", "C", "F"], [75, 18, 7])[0]
        city = chance.choice(["Lund", "Lund", "Malmo", "Ystad", None])
        first = date(2018, 1, 1) + timedelta(days=chance.randrange(2800))
        rows.append((9000 + n, name, kind, city, first, chance.random() < 0.6))
    write("donors", ["donor_id", "donor_name", "kind", "city", "first_gift_on", "wants_mail"], rows)


def donations(chance: random.Random) -> None:
    rows: list[tuple[Any, ...]] = []
    for code, _name, _cause, _goal, begins, ends in CAMPAIGNS[:4]:
        days = ((ends or date(2026, 6, 30)) - begins).days
        for _ in range(int(days * 1.4)):
            day = begins + timedelta(days=chance.randrange(days))
            at = datetime(day.year, day.month, day.day, chance.randrange(7, 23), chance.randrange(60))
            who = None if chance.random() < 0.08 else 9000 + chance.randrange(138)
            amount = chance.choice([500, 1000, 2000, 5000, 10000, 25000, 100000]) + chance.randrange(0, 100)
            thanked = at + timedelta(hours=chance.randrange(5, 400)) if chance.random() < 0.55 else None
            method = chance.choices(["CARD", "BANK", "CASH"], [50, 35, 15])[0]
            rows.append((who, code, at, amount, method, chance.random() < 0.3, thanked))
    rows.sort(key=lambda one: (one[2], one[1], one[3]))
    columns = ["donation_id", "donor_id", "campaign_code", "given_at", "amount_cents", "method", "is_regular"]
    write("donations", [*columns, "thanked_at"], [(n + 1, *one) for n, one in enumerate(rows)])


def helpers(chance: random.Random) -> None:
    people = []
    for n in range(26):
        joined = date(2023, 2, 1) + timedelta(days=chance.randrange(1000))
        left = joined + timedelta(days=chance.randrange(60, 700)) if chance.random() < 0.35 else None
        left = None if left and left > date(2026, 6, 1) else left
        name = f"{chance.choice(['Ebba', 'Folke', 'Gry', 'Hugo'])} {n}"
        people.append((n + 1, name, chance.choice(["K", "K", "S", "O"]), chance.randrange(1948, 2006), joined, left))
    columns = ["volunteer_id", "volunteer_name", "team", "birth_year", "joined_on", "left_on"]
    write("volunteers", columns, people)
    rows = []
    tasks = {"K": ["COOK", "COOK", "SORT"], "S": ["SELL", "SORT"], "O": ["CALL"]}
    for _ in range(600):
        day = date(2026, 1, 2) + timedelta(days=chance.randrange(178))
        number, _name, team, *_ = chance.choice(people[:23])
        at = datetime(day.year, day.month, day.day, chance.choice([8, 10, 12, 14, 17]), chance.choice([0, 30]))
        rows.append(
            (number, chance.choice(tasks[team]), at, at + timedelta(minutes=chance.choice([90, 120, 180, 240])))
        )
    rows.sort(key=lambda one: (one[2], one[0]))
    columns = ["shift_id", "volunteer_id", "task", "begins_at", "ends_at"]
    write("shifts", columns, [(n + 1, *one) for n, one in enumerate(rows)])


def main() -> None:
    chance = random.Random(1213)
    write("campaigns", ["campaign_code", "campaign_name", "cause", "goal_eur", "begins_on", "ends_on"], CAMPAIGNS)
    donors(chance)
    donations(chance)
    helpers(chance)


if __name__ == "__main__":
    main()
