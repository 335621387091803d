"""Makes the data of the radio station: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
SHOWS: list[tuple[Any, ...]] = [
    ("MORN", "Good Morning Coast", "MUS", date(2019, 1, 7), None, 6, 180, [1, 2]),
    ("NOON", "Midday News", "NEWS", date(2017, 5, 1), None, 12, 30, [3]),
    ("TALK", "The Round Table", "TALK", date(2022, 9, 5), None, 15, 60, [4, 3]),
    ("DRIV", "Drive Home", "MUS", date(2020, 2, 3), None, 17, 120, [5, 1]),
    ("GOAL", "Goal!", "SPRT", date(2021, 8, 1), date(2026, 5, 17), 19, 90, [6]),
    ("JAZZ", "Blue Hour", "MUS", date(2023, 1, 9), None, 22, 120, [None, 7]),
    ("KIDS", "Small Ears", "TALK", date(2026, 9, 1), None, 9, 45, []),
]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def archive(chance: random.Random) -> None:
    write("shows", ["show_code", "show_name", "genre", "first_aired_on", "ended_on"], [one[:5] for one in SHOWS])
    names = ["Ana Reef", "Ben Tull", "Cora Wade", "Dev Shore", "Eli Pike", "Fay Gull", "Gus Heron", "Hana Tern"]
    people = []
    for n, name in enumerate(names):
        free = n in {1, 5, 6}
        joined = date(2016, 3, 1) + timedelta(days=chance.randrange(3400))
        people.append((n + 1, name, free, chance.choice([90, 120, 150]) if free else None, joined))
    write("presenters", ["presenter_id", "presenter_name", "is_freelance", "fee_eur", "joined_on"], people)
    songs = []
    for n in range(70):
        title = (
            f"{chance.choice(['Blue', 'Salt', 'North', 'Paper'])} {chance.choice(['Harbour', 'Moon', 'Letters'])} {n}"
        )
        artist = chance.choice(["The Pilots", "Mara Sol", "Old Pier", "Quartet Nine", "Lumen", None])
        style = chance.choice(["POP", "POP", "ROCK", "JAZZ", "CLAS"])
        songs.append((n + 1, title, artist, style, chance.randrange(1965, 2027), chance.randrange(120, 420)))
    write("songs", ["song_id", "title", "artist", "style", "released_in", "length_s"], songs)
    trades = ["CAR", "CAR", "FOO", "FOO", "FUR", "LAW", "FUR", "FOO"]
    buyers = []
    for n, trade in enumerate(trades):
        until = None if n in {2, 6} else date(2026, 3, 1) + timedelta(days=chance.randrange(400))
        buyers.append((31 + n, f"{chance.choice(['Kelp', 'Dune', 'Cliff'])} {trade.title()} {n}", trade, until))
    write("advertisers", ["advertiser_id", "advertiser_name", "trade", "contract_until"], buyers)


def broadcasts(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(119):
        day = date(2026, 3, 2) + timedelta(days=n)
        for code, _name, genre, _first, ended, hour, minutes, hosts in SHOWS[:6]:
            weekend = day.weekday() >= 5
            skip = (weekend and code in {"NOON", "TALK"}) or (code == "GOAL" and day.weekday() not in {2, 5})
            if skip or (ended and day > ended) or chance.random() < 0.04:
                continue
            at = datetime(day.year, day.month, day.day, hour, 0)
            heard = None if chance.random() < 0.06 else chance.randrange(20, 420) * 100
            live = code not in {"JAZZ"} and chance.random() < 0.9
            rows.append((code, chance.choice(hosts), at, at + timedelta(minutes=minutes), heard, live, genre))
    rows.sort(key=lambda one: (one[2], one[0]))
    editions = [(4001 + n, *one) for n, one in enumerate(rows)]
    columns = ["broadcast_id", "show_code", "presenter_id", "starts_at", "ends_at", "listeners", "is_live"]
    write("broadcasts", columns, [one[:7] for one in editions])
    return editions


def on_air(chance: random.Random, editions: list[tuple[Any, ...]]) -> None:
    plays: list[tuple[Any, ...]] = []
    spots: list[tuple[Any, ...]] = []
    letters: list[tuple[Any, ...]] = []
    for number, _code, _host, starts, ends, _heard, _live, genre in editions:
        minutes = int((ends - starts).total_seconds() // 60)
        for _ in range(chance.randrange(2, 9) if genre == "MUS" else chance.randrange(0, 2)):
            at = starts + timedelta(seconds=chance.randrange(minutes * 60))
            plays.append((number, chance.randrange(1, 66), at, chance.random() < 0.15))
        for _ in range(chance.randrange(0, 4)):
            at = starts + timedelta(seconds=chance.randrange(minutes * 60))
            length = chance.choice([15, 20, 30, 30, 45])
            spots.append((number, chance.randrange(31, 38), at, length, length * chance.choice([350, 500, 900])))
        for _ in range(chance.randrange(0, 4)):
            at = starts + timedelta(seconds=chance.randrange(minutes * 90))
            answer = at + timedelta(minutes=chance.randrange(5, 3000)) if chance.random() < 0.6 else None
            kind = chance.choices(["PRAISE", "COMP", "QUIZ", "WISH", None], [25, 25, 25, 20, 5])[0]
            letters.append((number, chance.choice(["TEL", "APP", "APP", "MAIL"]), kind, at, answer))
    plays.sort(key=lambda one: (one[2], one[1]))
    spots.sort(key=lambda one: (one[2], one[1]))
    letters.sort(key=lambda one: (one[3], one[0]))
    write("plays", ["play_id", "broadcast_id", "song_id", "played_at", "is_request"], numbered(plays))
    write("spots", ["spot_id", "broadcast_id", "advertiser_id", "aired_at", "length_s", "price_cents"], numbered(spots))
    columns = ["message_id", "broadcast_id", "channel", "kind", "received_at", "answered_at"]
    write("messages", columns, numbered(letters))


def numbered(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [(n + 1, *one) for n, one in enumerate(rows)]


def main() -> None:
    chance = random.Random(1093)
    archive(chance)
    on_air(chance, broadcasts(chance))


if __name__ == "__main__":
    main()
