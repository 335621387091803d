"""Makes the data of the swimming baths: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = datetime(2026, 4, 1)
DAYS = 122
POOLS = [
    ("LID", "Lido", "Hafen", "OUT", 8, 900, date(1931, 6, 1), "false"),
    ("STA", "Stadtbad", "Mitte", "IND", 6, 350, date(1912, 9, 15), "true"),
    ("NOR", "Nordbad", "Nord", "MIX", 10, 700, date(1978, 5, 2), "true"),
    ("SEE", "Seebad", "Hafen", "OUT", 4, 500, date(1956, 7, 1), "false"),
    ("WES", "Westbad", "West", "IND", 6, 300, date(1999, 1, 10), "true"),
    ("OST", "Ostbad", "Ost", "IND", 5, 240, date(2026, 7, 20), "true"),
]
CLUBS = [
    "SV Neptun",
    "TSV Nord",
    "Goethe School",
    "Wave Riders",
    "SC Hafen",
    "Rescue Team",
    "Aqua Kids",
    "Masters 1900",
]
NAMES = ["Anke", "Bodo", "Cem", "Doris", "Elif", "Frank", "Gesa", "Hamid", "Ines", "Jonas", "Klara", "Luca", "Mona"]


def write(name: str, columns: str, rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns.split())
        writer.writerows(rows)


def text(flag: bool) -> str:
    return "true" if flag else "false"


def passes(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(1, 121):
        kind = chance.choice(["YEA", "SEA", "SEA", "TEN"])
        bought = date(2025, 9, 1) + timedelta(days=chance.randrange(330))
        rows.append(
            (
                n,
                f"{NAMES[n % 13]} {chance.choice('BFKRT')}.",
                chance.choice(["Hafen", "Mitte", "Nord", "West", "Ost", None]),
                chance.randint(1941, 2018),
                kind,
                {"YEA": 240.0, "SEA": 110.0, "TEN": 36.0}[kind] * chance.choice([1, 1, 0.8]),
                bought,
                bought + timedelta(days={"YEA": 365, "SEA": 183, "TEN": 730}[kind]),
                chance.choice(["LID", "STA", "NOR", "SEE", "WES"]),
            )
        )
    return rows


def visits(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(1, 1401):
        ticket = chance.choice(["ADU", "ADU", "CHI", "CHI", "RED", "PAS", "PAS"])
        at = BEGIN + timedelta(days=chance.randrange(DAYS), hours=chance.randint(7, 19), minutes=chance.randrange(60))
        rows.append(
            (
                n,
                chance.choices(["LID", "STA", "NOR", "SEE", "WES"], weights=[6, 4, 5, 2, 3])[0],
                chance.randint(1, 90) if ticket == "PAS" else None,
                at,
                at + timedelta(minutes=chance.randint(25, 240)) if chance.random() < 0.85 else None,
                ticket,
                None if ticket == "PAS" else {"ADU": 5.5, "CHI": 2.5, "RED": 3.8}[ticket] + chance.choice([0, 0, 0.7]),
            )
        )
    return rows


def lane_bookings(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(1, 321):
        pool = chance.choice(POOLS[:5])
        at = BEGIN + timedelta(days=chance.randrange(DAYS), hours=chance.randint(6, 20))
        minutes = chance.choice([45, 60, 60, 90, 120])
        off = chance.random() < 0.15
        rows.append(
            (
                n,
                pool[0],
                chance.choice(CLUBS[:7] if at.month == 6 else CLUBS),
                chance.randint(1, pool[4]),
                at,
                minutes,
                round(minutes * chance.choice([0.25, 0.3, 0.4]), 2),
                at - timedelta(hours=chance.randint(2, 200)) if off else None,
            )
        )
    return rows


def water_tests(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(1, 401):
        pool = chance.choice(POOLS[:5])
        chlorine = round(chance.uniform(0.2, 1.35), 2) if chance.random() < 0.95 else None
        acid = round(chance.uniform(6.8, 7.8), 2)
        rows.append(
            (
                n,
                pool[0],
                BEGIN + timedelta(days=chance.randrange(DAYS), hours=chance.randint(5, 21), minutes=n % 60),
                chlorine,
                acid,
                round(chance.uniform(26, 31) if pool[7] == "true" else chance.uniform(16, 25), 1),
                text(pool[0] == "WES" or (chlorine is not None and chlorine < 1.2 and acid > 6.95)),
            )
        )
    return rows


def incidents(chance: random.Random) -> list[tuple[Any, ...]]:
    return [
        (
            n,
            chance.choice(["LID", "LID", "STA", "NOR", "SEE", "WES"]),
            BEGIN + timedelta(days=chance.randrange(DAYS), hours=chance.randint(8, 20), minutes=chance.randrange(60)),
            chance.choice(["SLP", "SLP", "SLP", "RSC", "THF", "QRL"]),
            chance.choice(["Olga", "Pit", "Ruth", "Sami", None]),
            text(chance.random() < 0.3),
        )
        for n in range(1, 97)
    ]


def main() -> None:
    chance = random.Random(71)
    write("pools", "pool_code pool_name district roof lanes capacity opened_on heated", POOLS)
    write(
        "passes",
        "pass_no holder_name district birth_year pass_kind price_eur bought_on valid_until home_pool",
        passes(chance),
    )
    write("visits", "visit_no pool_code pass_no entered_at left_at ticket paid_eur", visits(chance))
    write(
        "lane_bookings",
        "booking_no pool_code club lane_no starts_at minutes fee_eur cancelled_at",
        lane_bookings(chance),
    )
    write("water_tests", "test_no pool_code taken_at chlorine_mg ph temperature_c passed", water_tests(chance))
    write("incidents", "incident_no pool_code happened_at incident_kind lifeguard ambulance", incidents(chance))


if __name__ == "__main__":
    main()
