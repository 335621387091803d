"""Makes the data of the call centre: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2026, 4, 1)
DAYS = 106
SHUT = {date(2026, 4, 3), date(2026, 4, 6), date(2026, 5, 1), date(2026, 5, 14), date(2026, 5, 25)}
TEAMS: list[tuple[Any, ...]] = [
    ("RED", "Red Team", "Leipzig", "Gudrun Maas"),
    ("BLU", "Blue Team", "Leipzig", "Ole Petersen"),
    ("GRN", "Green Team", "Porto", "Rita Sousa"),
    ("NGT", "Night Desk", "Porto", None),
    ("NEW", "Starter Team", None, "Ole Petersen"),  # without agents so far
]
QUEUES: list[tuple[Any, ...]] = [
    ("BILL", "Billing", 2, 60),
    ("TECH", "Technical Help", 1, 45),
    ("SALE", "New Contracts", 1, 20),
    ("MOVE", "Moving House", 3, 90),
    ("CANC", "Cancellations", 2, 30),
    ("VIP", "Business Line", 1, 15),
    ("TEST", "Line Test", 3, None),  # without a call
]
FIRST = ["Alma", "Bruno", "Carla", "Dario", "Elena", "Felix", "Greta"]
LAST = ["Ahrens", "Silva", "Kurz", "Lopes", "Merz"]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def agents(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(34):
        team = chance.choices(["RED", "BLU", "GRN", "NGT"], [32, 28, 28, 12])[0]
        hired = date(2018, 1, 15) + timedelta(days=chance.randrange(3000))
        left = BEGIN + timedelta(days=chance.randrange(10, 100)) if chance.random() < 0.18 else None
        weekly = chance.choices([20, 30, 40], [25, 20, 55])[0]
        name = f"{chance.choice(FIRST)} {chance.choice(LAST)} {n + 1}"
        language = chance.choices(["German", "English", "Portuguese", None], [55, 20, 20, 5])[0]
        rows.append((f"AG{n + 1:02}", name, team, hired, left, weekly, language, chance.random() < 0.4))
    columns = ["agent_code", "agent_name", "team_code", "hired_on", "left_on", "weekly_hours", "main_language"]
    write("agents", [*columns, "works_from_home"], rows)
    return rows


def calls(chance: random.Random, people: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        if day in SHUT or day.weekday() == 6:
            continue
        here = [one for one in people[:31] if one[3] <= day and (one[4] is None or day <= one[4])]
        for _ in range(chance.randrange(14, 34) // (3 if day.weekday() == 5 else 1) + (8 if day.weekday() == 0 else 0)):
            at = datetime(day.year, day.month, day.day, min(max(int(chance.gauss(12.5, 3)), 7), 20))
            at += timedelta(seconds=chance.randrange(3600))
            queue = chance.choices(QUEUES[:6], [26, 30, 14, 8, 14, 8])[0]
            outcome = chance.choices([1, 2, 3, 4], [70, 14, 6, 10])[0]
            wait = int(chance.lognormvariate(3.6 if day.weekday() else 4.1, 0.9)) + (30 if outcome == 2 else 0)
            talk = int(chance.lognormvariate(5.4, 0.7)) + 10 if outcome in {1, 4} else None
            wrap = None if talk is None or chance.random() < 0.04 else chance.randrange(0, 180)
            who = chance.choice(here)[0] if talk is not None else None
            customer = None if chance.random() < 0.1 else 40000 + min(int(chance.expovariate(0.004)), 900)
            rows.append((queue[0], who, customer, at, wait, talk, wrap, outcome, chance.random() < 0.12))
    rows.sort(key=lambda one: (one[3], one[0], one[4]))
    columns = ["queue_key", "agent_code", "customer_no", "came_in_at", "wait_secs", "talk_secs", "wrap_secs", "outcome"]
    numbered = [(n + 1, *one) for n, one in enumerate(rows)]
    write("calls", ["call_no", *columns, "is_repeat"], numbered)
    surveys(chance, numbered)


def surveys(chance: random.Random, taken: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for call in taken:
        if call[6] is not None and chance.random() < 0.28:
            low = call[5] > 90
            stars = chance.choices([1, 2, 3, 4, 5], [22, 20, 24, 20, 14] if low else [6, 8, 16, 32, 38])[0]
            solved = None if chance.random() < 0.06 else chance.random() < (0.3 + stars * 0.12)
            note = chance.choice(["Very friendly", "TOO SLOW", "ok", "could not help me", None, None, None])
            rows.append((call[0], call[4] + timedelta(minutes=chance.randrange(5, 3000)), stars, solved, note))
    write("surveys", ["call_no", "replied_at", "stars", "was_solved", "remark"], rows)


def shifts(chance: random.Random, people: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        if day in SHUT or day.weekday() == 6:
            continue
        for one in people:
            if one[3] > day or (one[4] and day > one[4]) or chance.random() < (0.85 if day.weekday() == 5 else 0.45):
                continue
            kind = "N" if one[2] == "NGT" else chance.choice(["E", "E", "L"])
            planned = {20: 240, 30: 360, 40: 480}[one[5]]
            sick = chance.random() < 0.05
            worked = 0 if sick else planned + chance.choice([-45, -15, 0, 0, 0, 10, 30, 60])
            rows.append((one[0], day, kind, planned, None if chance.random() < 0.01 else worked, sick))
    columns = ["agent_code", "shift_date", "shift_kind", "planned_mins", "worked_mins", "called_in_sick"]
    write("shifts", ["shift_no", *columns], [(n + 1, *one) for n, one in enumerate(rows)])


def main() -> None:
    chance = random.Random(1177)
    write("teams", ["team_code", "team_name", "site", "supervisor"], TEAMS)
    write("queues", ["queue_key", "queue_name", "priority", "target_secs"], QUEUES)
    people = agents(chance)
    calls(chance, people)
    shifts(chance, people)


if __name__ == "__main__":
    main()
