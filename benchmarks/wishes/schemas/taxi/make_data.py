"""Makes the data of the taxi company: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = datetime(2026, 2, 1)
ZONES = ["AIR", "CEN", "CEN", "STA", "SUB"]
NAMES = ["Adil", "Berta", "Carlo", "Dunja", "Emre", "Femke", "Goran", "Hilde", "Ivan", "Jana", "Kofi", "Lena"]
MODELS = ["Mercedes E", "Toyota Prius", "VW Caddy", "Tesla Y"]


def write(name: str, columns: str, rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns.split())
        writer.writerows(rows)


def text(flag: bool) -> str:
    return "true" if flag else "false"


def drivers(chance: random.Random) -> list[tuple[Any, ...]]:
    return [
        (
            n,
            f"{NAMES[n % 12]} {chance.choice('BKMS')}.",
            chance.choice(["North", "South", "East", None]),
            date(2018, 1, 1) + timedelta(days=chance.randrange(2900)),
            date(2026, 5, 1) + timedelta(days=chance.randrange(50)) if chance.random() < 0.2 else None,
            date(2026, 3, 1) + timedelta(days=chance.randrange(900)),
            text(chance.random() < 0.5),
            chance.randint(1, 4),
        )
        for n in range(1, 27)
    ]


def cabs(chance: random.Random) -> list[tuple[Any, ...]]:
    return [
        (
            f"T-{100 + n}",
            (model := chance.choice(MODELS)),
            "ELE" if model == "Tesla Y" else chance.choice(["DIE", "DIE", "HYB"]),
            chance.choice([4, 4, 4, 6, 8]),
            date(2019, 1, 1) + timedelta(days=chance.randrange(2500)),
            chance.randint(8_000, 310_000),
            date(2026, 6, 1) + timedelta(days=chance.randrange(300)) if chance.random() < 0.9 else None,
        )
        for n in range(1, 21)
    ]


def accounts(chance: random.Random) -> list[tuple[Any, ...]]:
    firms = [
        "Hotel Post",
        "City Clinic",
        "Nord Bank",
        "Park Hotel",
        "St. Anna School",
        "Lex & Co",
        "Rail Inn",
        "Eye Clinic",
    ]
    sectors = ["HOT", "HOS", "OFF", "HOT", "SCH", "OFF", "HOT", "HOS"]
    return [
        (
            700 + n,
            firms[n],
            sectors[n],
            float(chance.choice([500, 1000, 2500, 5000])),
            date(2021, 1, 1) + timedelta(days=chance.randrange(1800)),
            text(n in (2, 6)),
        )
        for n in range(8)
    ]


def rides(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(1, 901):
        at = BEGIN + timedelta(days=chance.randrange(140), hours=chance.randrange(24), minutes=chance.randrange(60))
        via = chance.choice(["APP", "APP", "TEL", "STR"])
        account = chance.randint(700, 706) if via == "TEL" and chance.random() < 0.6 else None
        begin, end = chance.choice(ZONES), chance.choice(ZONES)
        distance = round(chance.uniform(1.2, 9) + (14 if "AIR" in (begin, end) else 0), 2)
        paid = "ACC" if account else chance.choice(["CSH", "CRD", "CRD"])
        rows.append(
            (
                n,
                chance.randint(1, 24),
                f"T-{100 + chance.randint(1, 18)}",
                account,
                None if via == "STR" else at - timedelta(minutes=chance.randint(2, 34)),
                at,
                begin,
                end,
                distance,
                round(4.2 + 2.1 * distance, 2),
                chance.choice([1.0, 2.0, 3.5, 5.0]) if paid != "ACC" and chance.random() < 0.5 else None,
                paid,
                via,
                chance.choices([1, 2, 3, 4, 6], weights=[9, 5, 2, 2, 1])[0],
                chance.choice([None, None, 1, 2, 3, 4, 5, 5, 5]),
            )
        )
    return rows


def complaints(chance: random.Random, trips: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n, trip in enumerate(chance.sample(trips, 84), start=1):
        came = trip[5] + timedelta(hours=chance.randint(1, 90))
        rows.append(
            (
                n,
                trip[0],
                came,
                chance.choice(["RUD", "DRT", "DET", "LAT", "LAT"]),
                round(trip[9] * chance.choice([0.5, 1]), 2) if chance.random() < 0.4 else None,
                came + timedelta(hours=chance.randint(5, 300)) if chance.random() < 0.8 else None,
            )
        )
    return rows


def shifts(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(1, 501):
        night = chance.random() < 0.3
        at = BEGIN + timedelta(
            days=chance.randrange(140), hours=chance.randint(18, 22) if night else chance.randint(5, 13)
        )
        rows.append(
            (
                n,
                chance.randint(1, 23),
                f"T-{100 + chance.randint(1, 19)}",
                at,
                chance.choice([4.0, 6.0, 7.5, 8.0, 8.0, 9.5, 11.0]),
                chance.choice([0, 15, 30, 30, 45, 60]),
                text(night),
            )
        )
    return rows


def main() -> None:
    chance = random.Random(58)
    trips = rides(chance)
    write(
        "drivers",
        "driver_id driver_name depot hired_on left_on licence_until speaks_english languages",
        drivers(chance),
    )
    write("cabs", "plate model fuel seats bought_on mileage_km next_check_on", cabs(chance))
    write("accounts", "account_no company sector credit_limit_eur opened_on blocked", accounts(chance))
    write(
        "rides",
        "ride_no driver_id plate account_no ordered_at picked_up_at from_zone to_zone distance_km fare_eur tip_eur"
        " paid_by booked_via passengers stars",
        trips,
    )
    write("complaints", "complaint_no ride_no received_at topic refund_eur settled_at", complaints(chance, trips))
    write("shifts", "shift_no driver_id plate began_at hours break_minutes night", shifts(chance))


if __name__ == "__main__":
    main()
