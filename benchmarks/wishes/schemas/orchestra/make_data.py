"""Makes the data of the orchestra: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
VENUES: list[tuple[Any, ...]] = [
    ("GH", "Great Hall", "Linden", 160),
    ("SK", "Saint Klara", "Linden", 70),
    ("TH", "Town Theatre", "Ostheim", 90),
    ("LP", "Lake Park", "Ostheim", None),
    ("CC", "Congress Centre", "Weldorf", 220),
    ("SH", "School Hall", None, 50),
]
WORKS: list[tuple[Any, ...]] = [
    ("Symphony No. 5", "Ludwig van Beethoven", 33, "C"),
    ("Symphony No. 9", "Ludwig van Beethoven", 68, "C"),
    ("Egmont Overture", "Ludwig van Beethoven", 9, "C"),
    ("Symphony No. 40", "Wolfgang Amadeus Mozart", 30, "C"),
    ("Jupiter Symphony", "Wolfgang Amadeus Mozart", 36, "C"),
    ("Brandenburg Concerto No. 3", "Johann Sebastian Bach", 12, "B"),
    ("Orchestral Suite No. 2", "Johann Sebastian Bach", 21, "B"),
    ("Water Music", "Georg Friedrich Handel", 27, "B"),
    ("New World Symphony", "Antonin Dvorak", 42, "R"),
    ("Symphony No. 4", "Johannes Brahms", 40, "R"),
    ("Violin Concerto", "Johannes Brahms", 40, "R"),
    ("Pathetique", "Pyotr Tchaikovsky", 46, "R"),
    ("Nutcracker Suite", "Pyotr Tchaikovsky", 23, "R"),
    ("Finlandia", "Jean Sibelius", 8, "R"),
    ("The Rite of Spring", "Igor Stravinsky", 34, "M"),
    ("Firebird Suite", "Igor Stravinsky", 21, "M"),
    ("Short Ride", "John Adams", None, "M"),
    ("Lake Pictures", None, 15, None),
    ("Night Prelude", "Jean Sibelius", 6, "R"),
]
INSTRUMENTS = {
    "STR": ["violin", "violin", "violin", "viola", "cello", "double bass"],
    "WW": ["flute", "oboe", "clarinet", "bassoon"],
    "BR": ["horn", "trumpet", "trombone"],
    "PER": ["timpani", "drums"],
}
LAST_DAY = date(2026, 6, 28)


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def musicians(chance: random.Random) -> None:
    people = []
    for n in range(58):
        section = chance.choices(["STR", "WW", "BR", "PER"], [55, 22, 17, 6])[0]
        name = (
            f"{chance.choice(['Lea', 'Tom', 'Rita', 'Sven', 'Uta'])} {chance.choice(['Amsel', 'Brandt', 'Cohn'])} {n}"
        )
        joined = date(1998, 9, 1) + timedelta(days=chance.randrange(9800))
        left = joined + timedelta(days=chance.randrange(400, 6000)) if chance.random() < 0.25 else None
        left = None if left and left > LAST_DAY else left
        born = None if chance.random() < 0.07 else chance.randrange(1958, 2003)
        instrument = chance.choice(INSTRUMENTS[section])
        people.append((n + 1, name, section, instrument, chance.random() < 0.25, born, joined, left))
    columns = ["musician_id", "musician_name", "section", "instrument", "is_principal", "birth_year", "joined_on"]
    write("musicians", [*columns, "left_on"], people)
    rows = []
    for _ in range(260):
        day = date(2025, 9, 1) + timedelta(days=chance.randrange(300))
        if day.weekday() == 0:
            continue  # no work on Mondays
        who = chance.choice([one for one in people[:52] if one[6] <= day and (one[7] is None or day <= one[7])])[0]
        reason = chance.choices(["ILL", "VAC", "OTH", None], [50, 30, 15, 5])[0]
        rows.append((who, day, chance.choices(["R", "C"], [80, 20])[0], reason, chance.random() < 0.8))
    rows.sort(key=lambda one: (one[1], one[0]))
    columns = ["absence_id", "musician_id", "missed_on", "service", "reason", "is_excused"]
    write("absences", columns, [(n + 1, *one) for n, one in enumerate(rows)])


def concerts(chance: random.Random) -> None:
    rows, programme, tickets = [], [], []
    day = date(2025, 9, 12)
    number = 900
    while day < LAST_DAY:
        series = chance.choices(["SUB", "FAM", "TOUR", "OPEN"], [50, 20, 18, 12])[0]
        series = "SUB" if series == "OPEN" and day.month not in {5, 6, 9} else series
        venue = "LP" if series == "OPEN" else chance.choices(["GH", "SK", "TH", "CC"], [45, 15, 20, 20])[0]
        hour = 11 if series == "FAM" else chance.choice([18, 19, 20, 20])
        at = datetime(day.year, day.month, day.day, hour, chance.choice([0, 30]))
        conductor = chance.choice(["Greta Holl", "Greta Holl", "Amos Tarr", "Yuki Mori", None])
        cancelled = day - timedelta(days=chance.randrange(1, 20)) if chance.random() < 0.1 else None
        rows.append((number, venue, series, at, conductor, cancelled))
        for place, work in enumerate(chance.sample(range(18), chance.choice([2, 3, 3, 4]))):
            programme.append((number, place + 1, 100 + work))
        seats = {one[0]: one[3] for one in VENUES}[venue] or 140
        for _ in range(int(seats * chance.uniform(0.2, 0.75))):
            before = int(chance.expovariate(0.05))
            sold = at - timedelta(days=before, hours=chance.randrange(1, 9), minutes=chance.randrange(60))
            category = chance.choices(["A", "B", "C"], [25, 45, 30])[0]
            price = {"A": 5800, "B": 3900, "C": 2200}[category] // (2 if series == "FAM" else 1)
            price = 0 if chance.random() < 0.03 else price
            gone = cancelled is not None and sold.date() <= cancelled
            back = sold + timedelta(days=chance.randrange(1, 9)) if chance.random() < 0.02 or gone else None
            if cancelled is not None and sold.date() > cancelled:
                continue
            seller = chance.choices(["WEB", "BOX", "TEL"], [60, 28, 12])[0]
            tickets.append((number, sold, category, price, seller, chance.random() < 0.2, back))
        number += 1
        day += timedelta(days=chance.choice([3, 4, 5, 7, 7, 14]))
    rows += [(number, "GH", "SUB", datetime(2026, 9, 11, 20), "Greta Holl", None)]
    write("concerts", ["concert_id", "venue_code", "series", "starts_at", "conductor", "cancelled_on"], rows)
    write("programme", ["concert_id", "place", "work_id"], programme)
    tickets.sort(key=lambda one: (one[1], one[0], one[2], one[4]))
    columns = ["ticket_id", "concert_id", "sold_at", "category", "price_cents", "channel", "is_reduced", "returned_at"]
    write("tickets", columns, [(n + 20001, *one) for n, one in enumerate(tickets)])


def main() -> None:
    chance = random.Random(1824)
    write("venues", ["venue_code", "venue_name", "town", "seats"], VENUES)
    write("works", ["work_id", "title", "composer", "minutes", "era"], [(100 + n, *one) for n, one in enumerate(WORKS)])
    musicians(chance)
    concerts(chance)


if __name__ == "__main__":
    main()
