"""Makes the data of the law firm: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
LAWYERS = [
    ("Iris Vance", "P", "Leeds", date(2009, 3, 1), None),
    ("Paul Okoro", "P", "York", date(2012, 9, 1), None),
    ("Nora Lind", "S", "Leeds", date(2017, 1, 15), None),
    ("Theo Marsh", "S", "York", date(2018, 6, 1), date(2026, 4, 30)),
    ("Kim Adler", "A", "Leeds", date(2021, 10, 1), None),
    ("Jo Brandt", "A", "Leeds", date(2022, 2, 1), None),
    ("Sam Ekholm", "A", "York", date(2024, 5, 1), date(2026, 2, 28)),
    ("Lea Fonck", "T", "York", date(2025, 9, 1), None),
    ("Max Gruber", "T", "Leeds", date(2026, 5, 1), None),
]
RATES = {"P": [380, 420], "S": [260, 290], "A": [190, 210], "T": [95]}


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def clients(chance: random.Random) -> None:
    rows = []
    for n in range(44):
        name = (
            f"{chance.choice(['Alder', 'Birch', 'Cedar', 'Dorn', 'Elm'])} {chance.choice(['Ltd', 'AG', 'Group'])} {n}"
        )
        industry = chance.choice(["MAN", "RET", "TEC", "TEC", "PUB", None])
        since = date(2015, 1, 1) + timedelta(days=chance.randrange(4100))
        country = chance.choice(["Ireland", "Ireland", "Germany", "United States"])
        rows.append((501 + n, name, industry, country, since, chance.random() < 0.25))
    write("clients", ["client_no", "client_name", "industry", "country", "client_since", "is_key_account"], rows)
    columns = ["lawyer_id", "lawyer_name", "rank", "office", "hired_on", "left_on"]
    write("lawyers", columns, [(n + 1, *one) for n, one in enumerate(LAWYERS)])


def matters(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(96):
        opened = date(2025, 1, 10) + timedelta(days=chance.randrange(490))
        closed = opened + timedelta(days=chance.randrange(20, 260)) if chance.random() < 0.5 else None
        closed = None if closed and closed > date(2026, 6, 30) else closed
        practice = chance.choices(["COR", "LIT", "EMP", "TAX"], [30, 35, 20, 15])[0]
        cap = chance.choice([None, None, 5000, 12000, 30000])
        lead = chance.choice([1, 1, 2, 3, 4, 5])
        rows.append((f"M{2000 + n}", chance.randrange(501, 541), lead, practice, opened, closed, cap, n % 13 == 4))
    columns = ["matter_no", "client_no", "lead_lawyer_id", "practice", "opened_on", "closed_on", "fee_cap_eur"]
    write("matters", [*columns, "is_pro_bono"], rows)
    return rows


def entries(chance: random.Random, files: list[tuple[Any, ...]]) -> None:
    rows = []
    for matter, _client, lead, practice, opened, closed, _cap, pro_bono in files[:90]:
        for _ in range(chance.randrange(3, 32)):
            last = closed or date(2026, 6, 30)
            day = opened + timedelta(days=chance.randrange(max(1, (last - opened).days)))
            able = [n + 1 for n, one in enumerate(LAWYERS) if one[3] <= day and (one[4] is None or day <= one[4])]
            who = lead if lead in able and chance.random() < 0.3 else chance.choice(able)
            activity = chance.choices(["DR", "RS", "MT", "CT", "TR"], [35, 25, 20, 10 if practice == "LIT" else 0, 10])[
                0
            ]
            rate = chance.choice(RATES[LAWYERS[who - 1][1]])
            billable = not pro_bono and chance.random() < (0.4 if activity == "TR" else 0.88)
            rows.append((matter, who, day, chance.choice([12, 18, 30, 45, 60, 90, 120, 240]), activity, rate, billable))
    rows.sort(key=lambda one: (one[2], one[0], one[1], one[3]))
    columns = ["entry_id", "matter_no", "lawyer_id", "worked_on", "minutes", "activity", "rate_eur", "is_billable"]
    write("time_entries", columns, [(9001 + n, *one) for n, one in enumerate(rows)])


def invoices(chance: random.Random, files: list[tuple[Any, ...]]) -> None:
    rows = []
    for matter, _client, _lead, _practice, opened, closed, _cap, pro_bono in files[:84]:
        for _ in range(0 if pro_bono else chance.randrange(0, 6)):
            issued = opened + timedelta(days=chance.randrange(15, 90 + ((closed or date(2026, 6, 1)) - opened).days))
            due = issued + timedelta(days=chance.choice([14, 30]))
            paid = issued + timedelta(days=chance.randrange(3, 60)) if chance.random() < 0.84 else None
            if issued < date(2026, 7, 1):
                rows.append((matter, issued, due, paid, chance.randrange(30000, 2400000)))
    rows.sort(key=lambda one: (one[1], one[0]))
    columns = ["invoice_no", "matter_no", "issued_on", "due_on", "paid_on", "amount_cents"]
    write("invoices", columns, [(70001 + n, *one) for n, one in enumerate(rows)])


def hearings(chance: random.Random, files: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for one in files:
        if one[3] == "LIT" or (one[3] == "EMP" and chance.random() < 0.4):
            for _ in range(chance.randrange(1, 6)):
                day = one[4] + timedelta(days=chance.randrange(20, 200))
                at = datetime(day.year, day.month, day.day, chance.choice([9, 9, 10, 11, 14]), chance.choice([0, 30]))
                ends = at + timedelta(minutes=chance.choice([20, 45, 90, 150])) if chance.random() < 0.9 else None
                court = chance.choice(["High Court", "County Court", "County Court", "Labour Tribunal"])
                outcome = chance.choice(["W", "W", "L", "S", "A", None]) if ends else chance.choice(["A", None])
                rows.append((one[0], court, at, ends, outcome))
    rows.sort(key=lambda one: (one[2], one[0], one[1]))
    columns = ["hearing_id", "matter_no", "court", "starts_at", "ends_at", "outcome"]
    write("hearings", columns, [(301 + n, *one) for n, one in enumerate(rows)])


def main() -> None:
    chance = random.Random(1187)
    clients(chance)
    files = matters(chance)
    entries(chance, files)
    invoices(chance, files)
    hearings(chance, files)


if __name__ == "__main__":
    main()
