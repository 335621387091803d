"""Makes the data of the museum: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = datetime(2026, 1, 3)
DAYS = 140
SHOWS = [
    ("AMB", "Amber Roads", "N", date(2025, 11, 1), None),
    ("CLK", "Clocks and Towers", "N", date(2026, 1, 10), date(2026, 4, 12)),
    ("DEE", "Deep Sea", "S", date(2026, 2, 1), None),
    ("FAB", "Fabric of Trade", "E", date(2025, 9, 5), date(2026, 3, 1)),
    ("ICE", "Ice Age", "S", date(2024, 5, 1), None),
    ("NEW", "New Faces", None, date(2026, 5, 20), None),
]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def moment(chance: random.Random) -> datetime:
    day = chance.choice([day for day in range(DAYS) if day % 7 != 2])
    return BEGIN + timedelta(days=day, minutes=chance.randrange(9 * 60, 17 * 60))


def tours(chance: random.Random) -> None:
    names = ["Ada Brandt", "Bo Lindt", "Cleo Marsh", "Dov Katz", "Eve Ohm", "Finn Roth"]
    guides = [(n + 1, one, date(2015, 1, 1) + timedelta(days=chance.randrange(3900))) for n, one in enumerate(names)]
    write("guides", ["guide_id", "guide_name", "hired_on"], guides)
    rows = []
    for _ in range(330):
        guests = None if chance.random() < 0.06 else chance.randrange(2, 26)
        tongue = chance.choices(["EN", "FR", "DE"], [50, 20, 30])[0]
        minutes = chance.choice([45, 60, 90])
        guide = None if chance.random() < 0.05 else chance.randrange(1, 6)
        rows.append(
            (chance.choice(SHOWS[:5])[0], guide, moment(chance), tongue, minutes, guests, chance.random() < 0.1)
        )
    rows.sort(key=lambda one: (one[2], one[0]))
    columns = ["tour_id", "exhibition_code", "guide_id", "begins_at", "language", "minutes", "guests", "was_cancelled"]
    write("tours", columns, [(501 + n, *one) for n, one in enumerate(rows)])


def admissions(chance: random.Random) -> None:
    rows = []
    for _ in range(1500):
        kind, cents = chance.choice([("A", 1400), ("A", 1400), ("C", 500), ("S", 900), ("F", 0)])
        channel = chance.choices(["DSK", "WEB", "PAR"], [50, 40, 10])[0]
        show = None if chance.random() < 0.03 else chance.choice(SHOWS[:5])[0]
        rows.append((show, kind, channel, moment(chance), cents))
    rows.sort(key=lambda one: one[3])
    columns = ["admission_id", "exhibition_code", "visitor_kind", "channel", "sold_at", "price_cents"]
    write("admissions", columns, [(n + 1, *one) for n, one in enumerate(rows)])


def objects(chance: random.Random) -> None:
    rows = []
    for n in range(240):
        show = None if chance.random() < 0.25 else chance.choice(SHOWS[:5])[0]
        got = date(1950, 1, 1) + timedelta(days=chance.randrange(27000))
        worth = None if chance.random() < 0.1 else chance.randrange(500, 90000, 50)
        kind = chance.choices(["PNT", "SCU", "TXT", "FOS"], [30, 20, 30, 20])[0]
        rows.append((7001 + n, show, kind, got, worth, chance.random() < 0.2))
    write("objects", ["object_no", "exhibition_code", "kind", "acquired_on", "insured_eur", "is_on_loan"], rows)


def main() -> None:
    chance = random.Random(311)
    write("exhibitions", ["exhibition_code", "title", "wing", "opened_on", "closed_on"], SHOWS)
    tours(chance)
    admissions(chance)
    objects(chance)


if __name__ == "__main__":
    main()
