"""Makes the data of the chess federation: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
CLUBS: list[tuple[Any, ...]] = [
    (1, "Rook and Castle", "Harborough", 1921, 48.0),
    (2, "SK Turm", "Harborough", 1954, 60.0),
    (3, "The Fianchetto", "Wold", 1987, 36.0),
    (4, "Pawn Storm", "Wold", 2011, 24.0),
    (5, "King's Head", "Stour", 1899, 55.0),
    (6, "Zugzwang", "Stour", 2003, 30.0),
    (7, "Endgame", "Fenland", 1968, 40.0),
    (8, "Old Philidor", None, 1907, 45.0),  # without members
]
EVENTS: list[tuple[Any, ...]] = [
    (1, "New Year Blitz", date(2025, 1, 4), date(2025, 1, 4), "B", "Wells", 10.0, 600, False, 3, 2),
    (2, "Wold Open", date(2025, 2, 14), date(2025, 2, 17), "C", "Marden", 45.0, 5000, False, 90, 30),
    (3, "Harborough Masters", date(2025, 4, 18), date(2025, 4, 22), "C", "Harborough", 60.0, 9000, False, 90, 30),
    (4, "Spring Rapid", date(2025, 5, 10), date(2025, 5, 11), "R", "Wells", 20.0, 1200, False, 15, 10),
    (5, "Night of the Knights", date(2025, 6, 27), date(2025, 6, 28), "B", None, 5.0, 250, True, 3, 2),
    (6, "Coast Festival", date(2025, 8, 1), date(2025, 8, 9), "C", "Stourmouth", 70.0, 12000, False, 90, 30),
    (7, "Autumn Rapid", date(2025, 10, 4), date(2025, 10, 5), "R", "Marden", 20.0, 1000, False, 15, 10),
    (8, "Winter Online League", date(2025, 11, 8), date(2025, 12, 20), "R", None, 0.0, None, True, 15, 5),
    (9, "City Championship", date(2026, 1, 16), date(2026, 1, 20), "C", "Harborough", 50.0, 7500, False, 90, 30),
    (10, "Fen Rapid", date(2026, 3, 7), date(2026, 3, 8), "R", "Ely Bridge", 18.0, 900, False, 15, 10),
    (11, "Seniors Cup", date(2026, 9, 12), date(2026, 9, 14), "C", "Wells", 35.0, 2000, False, 90, 30),  # to come
]
ROUNDS = {1: 9, 2: 6, 3: 9, 4: 7, 5: 11, 6: 9, 7: 7, 8: 7, 9: 9, 10: 7, 11: 0}
OPENINGS = ["Sicilian", "French", "Caro-Kann", "Queen's Gambit", "King's Indian", "English", "Ruy Lopez", "Italian"]
FIRST = [
    "Olga",
    "Peter",
    "Rana",
    "Stefan",
    "Tilda",
    "Umar",
    "Vera",
    "Walter",
    "Xenia",
    "Yusuf",
    "Zoe",
    "Amir",
    "Birgit",
]
LAST = ["Novik", "Okafor", "Petrov", "Quist", "Rahman", "Sato", "Tamm", "Urban", "Vidal", "Weiss", "Young", "Zeller"]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def players(chance: random.Random) -> dict[int, int]:
    rows: list[tuple[Any, ...]] = []
    strength: dict[int, int] = {}
    for number in range(101, 261):
        club = None if chance.random() < 0.08 else chance.choices(range(1, 8), [28, 24, 16, 10, 30, 12, 20])[0]
        rating = int(min(max(chance.gauss(1720, 300), 1000), 2560))
        title = "GM" if rating > 2380 else "IM" if rating > 2260 else "FM" if rating > 2160 else None
        joined = date(1998, 1, 1) + timedelta(days=chance.randrange(10100))
        left = date(2025, 1, 1) + timedelta(days=chance.randrange(500)) if chance.random() < 0.12 else None
        name = f"{chance.choice(FIRST)} {chance.choice(LAST)}"
        sex = chance.choices(["F", "M", "X"], [27, 70, 3])[0]
        rows.append((number, name, club, chance.randrange(1944, 2016), sex, title, joined, left))
        strength[number] = rating
    columns = ["player_id", "player_name", "club_id", "birth_year", "sex", "title", "member_since", "left_on"]
    write("players", columns, rows)
    return strength


def ratings(chance: random.Random, strength: dict[int, int]) -> None:
    rows: list[tuple[Any, ...]] = []
    for player, begin in strength.items():
        now = begin
        for month in range(15):
            day = date(2025 + month // 12, month % 12 + 1, 1)
            if chance.random() < 0.55:
                now += chance.randrange(-25, 28)
            rows.append((player, day, now, chance.randrange(0, 12)))
    write("ratings", ["player_id", "rated_on", "rating", "rated_games"], rows)


def entries(chance: random.Random, strength: dict[int, int]) -> dict[int, list[int]]:
    rows: list[tuple[Any, ...]] = []
    there: dict[int, list[int]] = {}
    regular = [player for player in strength if player % 11]  # the others play in no event
    for event, _name, begins, _ends, tempo, _town, fee, *_ in EVENTS:
        size = {"C": 36, "R": 44, "B": 30}[tempo] - (14 if event == 11 else 0)
        for player in sorted(chance.sample(regular, size)):
            at = datetime(begins.year, begins.month, begins.day) - timedelta(minutes=chance.randrange(60, 60 * 24 * 40))
            free = chance.random() < 0.08
            out = chance.random() < 0.06
            paid = 0.0 if free else round(fee * (1.5 if (begins - at.date()).days < 3 else 1), 2)
            rows.append((event, player, at, paid, chance.choices(["WEB", "CLB", "TEL"], [62, 30, 8])[0], out))
            if not out and event != 11:
                there.setdefault(event, []).append(player)
    write("entries", ["event_id", "player_id", "entered_at", "fee_paid_eur", "entered_by", "withdrew"], rows)
    return there


def games(chance: random.Random, strength: dict[int, int], there: dict[int, list[int]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for event, _name, begins, ends, tempo, *_ in EVENTS:
        for turn in range(ROUNDS[event]):
            day = begins + (ends - begins) * turn / max(ROUNDS[event], 1)
            pool = there[event][:]
            chance.shuffle(pool)
            for white, black in zip(pool[::2], pool[1::2], strict=False):
                at = datetime(
                    day.year, day.month, day.day, 9 + turn % (2 if tempo == "C" else 9), chance.choice([0, 30])
                )
                gap = strength[white] - strength[black] + 30
                win = 1 / (1 + 10 ** (-gap / 400))
                ended = chance.choices(["W", "B", "D"], [win * 0.75, (1 - win) * 0.75, 0.25])[0]
                if chance.random() < 0.03:
                    ended = "F"
                moves = None if ended == "F" else int(min(max(chance.gauss(38, 14), 9), 96))
                opening = None if ended == "F" or chance.random() < 0.04 else chance.choice(OPENINGS)
                rows.append((event, turn + 1, white, black, at, ended, moves, opening, chance.randrange(1, 16)))
    rows.sort(key=lambda one: (one[4], one[0], one[1], one[2]))
    columns = ["event_id", "round_no", "white_id", "black_id", "started_at", "result", "moves", "opening", "board_no"]
    write("games", ["game_id", *columns], [(n + 1, *one) for n, one in enumerate(rows)])


def dues(chance: random.Random) -> None:
    rows: list[tuple[Any, ...]] = []
    for player in range(101, 261):
        for year in (2024, 2025, 2026):
            if chance.random() < 0.15:
                continue
            owed = date(year, 2, 1)
            paid = owed + timedelta(days=int(chance.gauss(8, 22))) if chance.random() < 0.9 else None
            cents = chance.choices([3200, 1600, 800], [60, 25, 15])[0]
            how = None if paid is None else chance.choices(["BNK", "CRD", "CSH"], [55, 32, 13])[0]
            rows.append((player, owed, paid, cents, how))
    rows.sort(key=lambda one: (one[1], one[0]))
    columns = ["player_id", "owed_on", "paid_on", "amount_cents", "pay_method"]
    write("dues", ["due_no", *columns], [(n + 1, *one) for n, one in enumerate(rows)])


def main() -> None:
    chance = random.Random(64)
    write("clubs", ["club_id", "club_name", "district", "founded_in", "club_fee_eur"], CLUBS)
    columns = ["event_id", "event_name", "starts_on", "ends_on", "tempo", "city", "entry_fee_eur", "prize_fund_eur"]
    write("events", [*columns, "is_online", "base_minutes", "increment_seconds"], EVENTS)
    strength = players(chance)
    ratings(chance, strength)
    games(chance, strength, entries(chance, strength))
    dues(chance)


if __name__ == "__main__":
    main()
