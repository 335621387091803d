"""Makes the data of the translation agency: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
LANGUAGES = ["de", "en", "fr", "es"]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def people(chance: random.Random) -> None:
    rows = []
    for n in range(40):
        name = f"{chance.choice(['Nova', 'Orbis', 'Pax', 'Quadra'])} {chance.choice(['SA', 'Inc', 'Kft'])} {n}"
        since = date(2019, 4, 1) + timedelta(days=chance.randrange(2400))
        country = chance.choice(["Austria", "Austria", "France", "New Zealand"])
        rows.append((300 + n, name, chance.choice(["PH", "SW", "LE", "TO", None]), country, since))
    write("customers", ["customer_no", "customer_name", "sector", "country", "since"], rows)
    staff = []
    for n in range(12):
        hired = date(2017, 1, 1) + timedelta(days=chance.randrange(3300))
        name = f"{chance.choice(['Inga', 'Jan', 'Karla', 'Leo'])} {chance.choice(['Rey', 'Stern'])} {n}"
        staff.append((n + 1, name, LANGUAGES[n % 4], n % 3 == 0, chance.choice([7, 9, 11, 14]), hired))
    columns = ["translator_id", "translator_name", "native_language", "is_sworn", "rate_cents", "hired_on"]
    write("translators", columns, staff)


def jobs(chance: random.Random) -> None:
    rows: list[tuple[Any, ...]] = []
    for _ in range(900):
        day = date(2026, 1, 5) + timedelta(days=chance.randrange(175))
        at = datetime(day.year, day.month, day.day, chance.randrange(7, 20), chance.randrange(60))
        source, target = chance.sample(LANGUAGES, 2)
        words = chance.randrange(80, 9000)
        rush = chance.random() < 0.2
        due = at + timedelta(hours=chance.choice([24, 48, 72, 120, 240]))
        done = due + timedelta(hours=chance.randrange(-30, 14)) if chance.random() < 0.9 else None
        done = at + timedelta(hours=5) if done and done <= at else done
        who = None if done is None and chance.random() < 0.5 else chance.randrange(1, 12)
        price = round(words * chance.choice([0.11, 0.14, 0.18]) * (1.5 if rush else 1), 2)
        field = chance.choices(["MED", "LAW", "TEC", "MKT"], [20, 30, 30, 20])[0]
        rows.append((300 + chance.randrange(37), who, source, target, field, words, price, at, due, done, rush))
    rows.sort(key=lambda one: (one[7], one[0]))
    columns = ["job_no", "customer_no", "translator_id", "source_language", "target_language", "field", "words"]
    columns += ["price_eur", "ordered_at", "due_at", "delivered_at", "is_rush"]
    write("jobs", columns, [(5001 + n, *one) for n, one in enumerate(rows)])
    told = []
    for n, one in enumerate(rows):
        if one[9] and chance.random() < 0.4:
            at = one[9] + timedelta(hours=chance.randrange(2, 200))
            stars = chance.choices([1, 2, 3, 4, 5], [5, 8, 17, 35, 35])[0]
            told.append((5001 + n, at, stars, chance.choice(["LATE", "TYPO", "TERM"]) if stars < 4 else None))
    told.sort(key=lambda one: (one[1], one[0]))
    write(
        "ratings",
        ["rating_id", "job_no", "rated_at", "stars", "problem"],
        [(n + 1, *one) for n, one in enumerate(told)],
    )


def main() -> None:
    chance = random.Random(1217)
    people(chance)
    jobs(chance)


if __name__ == "__main__":
    main()
