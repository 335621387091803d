"""Makes the data of the cinemas: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = datetime(2026, 1, 5)
DAYS = 128
CLOSED = {("LUX", day) for day in range(40, 47)}  # one cinema was being repaired
CINEMAS = [
    ("ODE", "Odeon", "Gdansk", date(1998, 11, 6), True),
    ("LUX", "Lux", "Gdansk", date(2007, 3, 23), False),
    ("CAP", "Capitol", "Torun", date(1959, 9, 1), True),
    ("STA", "Stary Mlyn", "Olsztyn", date(2014, 5, 16), True),
    ("PLA", "Plaza", None, date(2021, 10, 8), False),
    ("NEO", "Neo", "Torun", date(2026, 5, 9), True),
]
SCREENS = [
    ("ODE-1", "ODE", 220, "ATM", True), ("ODE-2", "ODE", 140, "STD", True), ("ODE-3", "ODE", 80, "STD", False),
    ("LUX-1", "LUX", 160, "ATM", True), ("LUX-2", "LUX", 90, "STD", False), ("CAP-1", "CAP", 310, "ATM", True),
    ("CAP-2", "CAP", 120, "SUR", True), ("STA-1", "STA", 130, "SUR", True), ("STA-2", "STA", 60, "STD", False),
    ("PLA-1", "PLA", None, "STD", True), ("PLA-2", "PLA", 110, "SUR", True), ("NEO-1", "NEO", 180, "ATM", True),
]  # fmt: skip
GENRES = ["comedy", "drama", "horror", "animation", "SCI-FI", "documentary", None]
SNACKS = [
    ("Popcorn small", "POP", 420), ("Popcorn large", "POP", 650), ("Nachos", "SAV", 590), ("Pretzel", "SAV", 310),
    ("Cola", "DRK", 380), ("Water", "DRK", 260), ("Beer", "DRK", 520), ("Ice cream", "SWT", 350),
    ("Wine gums", "SWT", 290), ("Tote bag", None, 1500),
]  # fmt: skip


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def places() -> None:
    write("cinemas", ["cinema_code", "cinema_name", "city", "opened_on", "has_bar"], CINEMAS)
    write("screens", ["screen_id", "cinema_code", "seats", "sound", "has_wheelchair_places"], SCREENS)


def programme(chance: random.Random) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    adjectives = ["Silent", "Golden", "Broken", "Northern", "Last", "Electric", "Paper"]
    nouns = ["Orchard", "Harbour", "Promise", "Comet", "Waltz", "Winter"]
    titles = [f"{adjective} {noun}" for noun in nouns for adjective in adjectives]
    chance.shuffle(titles)
    films = []
    for n in range(1, 37):
        genre = chance.choices(GENRES, [24, 24, 12, 16, 12, 8, 4])[0]
        rating = "U" if genre == "animation" else chance.choices(["U", "12", "16", "18"], [20, 40, 28, 12])[0]
        runtime = None if n % 17 == 0 else chance.randrange(76, 172)
        distributor = chance.choices(["Blue Lantern", "Kino West", "Mirador", "ARGO FILMS", None], [34, 26, 20, 14, 6])[
            0
        ]
        released = date(2025, 11, 7) + timedelta(days=7 * (n * 5 % 24))
        films.append((400 + n, titles[n], genre, runtime, rating, distributor, released))
    columns = ["film_id", "film_title", "genre", "runtime_minutes", "age_rating", "distributor", "released_on"]
    write("films", columns, films)

    screenings: list[tuple[Any, ...]] = []
    for day in range(DAYS):
        date_ = BEGIN + timedelta(days=day)
        current = [film for film in films[:33] if film[6] <= date_.date()][-14:]
        for screen in SCREENS[:11]:
            if (screen[1], day) in CLOSED or (day % 7 < 3 and screen[0].endswith("-2")):
                continue
            for hour in chance.sample([11, 14, 17, 18, 20, 22], 2 if day % 7 > 3 else 1):
                starts = date_ + timedelta(hours=hour, minutes=chance.choice([0, 0, 15, 30, 45]))
                film = 499 if chance.random() < 0.015 else chance.choice(current)[0]
                format_ = chance.choices(["2D", "3D", "IMX"], [74, 18, 8])[0]
                status = "CAN" if chance.random() < 0.05 else "RUN"
                screenings.append((film, screen[0], starts, format_, status))
    screenings.sort(key=lambda one: (one[2], one[1]))
    screenings = [(3000 + n, *one) for n, one in enumerate(screenings)]
    write("screenings", ["screening_id", "film_id", "screen_id", "starts_at", "format", "status"], screenings)
    return films, screenings


def audience(chance: random.Random, screenings: list[tuple[Any, ...]]) -> None:
    first = ["Ada", "Bruno", "Celia", "Dorian", "Elke", "Fryda", "Gustaw", "Hanna", "Igor", "Jola", "Kamil", "Lena"]
    last = ["Adamski", "Borowska", "Cichy", "Dudek", "Falk", "Gorska", "Hoffman", "Jagoda", "Krol", "Lis"]
    names = [f"{one} {other}" for one in first for other in last]
    chance.shuffle(names)
    members = []
    for n in range(1, 91):
        tier = chance.choices("BSG", [55, 30, 15])[0]
        joined = date(2022, 2, 1) + timedelta(days=chance.randrange(1480))
        birth = None if n % 13 == 0 else date(1948, 1, 1) + timedelta(days=chance.randrange(365 * 60))
        city = chance.choices(["Gdansk", "Torun", "Olsztyn", "SOPOT", None], [40, 25, 18, 12, 5])[0]
        members.append((n, names[n], city, tier, joined, birth, chance.random() < 0.6))
    columns = ["member_id", "member_name", "city", "tier", "joined_on", "birth_date", "gets_newsletter"]
    write("members", columns, members)

    tickets = []
    for screening in screenings:
        for _ in range(min(int(chance.paretovariate(0.9)), 9)):
            kind = chance.choices(["AD", "CH", "ST", "SE"], [55, 16, 19, 10])[0]
            price = {"AD": 1190, "CH": 790, "ST": 890, "SE": 850}[kind] + {"2D": 0, "3D": 250, "IMX": 450}[screening[4]]
            price = 0 if chance.random() < 0.01 else price
            bought = screening[3] - timedelta(minutes=min(int(chance.expovariate(1 / 900)), 20000))
            channel = chance.choices(["WEB", "APP", "BOX", "KIO"], [34, 28, 28, 10])[0]
            member = None if chance.random() < 0.45 else 1 + int(chance.random() ** 2.2 * 84)
            member = 977 if chance.random() < 0.005 else member
            refunded = screening[5] == "CAN" or chance.random() < 0.04
            tickets.append((screening[0], member, bought, kind, channel, price, refunded))
    tickets.sort(key=lambda one: (one[2], one[0]))
    columns = ["screening_id", "member_id", "bought_at", "ticket_type", "channel", "price_cents", "is_refunded"]
    write("tickets", ["ticket_id", *columns], [(60000 + n, *one) for n, one in enumerate(tickets)])


def bar(chance: random.Random) -> None:
    sales = []
    for day in range(DAYS):
        for cinema in CINEMAS[:5]:
            if (cinema[0], day) in CLOSED:
                continue
            for _ in range(chance.randrange(0, 5 if day % 7 > 3 else 3)):
                name, category, price = chance.choice(SNACKS)
                quantity = chance.choices([1, 2, 3, 4], [55, 30, 10, 5])[0]
                sold = BEGIN + timedelta(days=day, minutes=chance.randrange(11 * 60, 23 * 60))
                payment = chance.choices(["CSH", "CRD", "VOU", None], [28, 60, 8, 4])[0]
                sales.append((cinema[0], sold, name, category, quantity, price * quantity, payment))
    sales.sort(key=lambda one: (one[1], one[0]))
    columns = ["cinema_code", "sold_at", "product", "category", "quantity", "amount_cents", "payment"]
    write("snack_sales", ["sale_id", *columns], [(n + 1, *one) for n, one in enumerate(sales)])


def main() -> None:
    chance = random.Random(83)
    places()
    _, screenings = programme(chance)
    audience(chance, screenings)
    bar(chance)


if __name__ == "__main__":
    main()
