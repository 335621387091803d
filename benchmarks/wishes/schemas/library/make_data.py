"""Makes the data of the library: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = datetime(2025, 1, 2)
END = datetime(2025, 6, 30, 20)
CLOSED = range(46, 53)  # days on which nothing is lent
BRANCHES = [
    ("CEN", "Central Library", "Old Town", date(1962, 5, 2), True),
    ("HAR", "Harbour", "Harbour", date(1988, 9, 1), False),
    ("HIL", "Hill Road", "North", date(1995, 3, 15), True),
    ("UNI", "Campus", "North", date(2011, 10, 1), False),
    ("BUS", "Book Bus", None, date(2019, 4, 1), False),
    ("NEW", "Riverside", "South", date(2025, 6, 20), True),
]
GENRES = ["crime", "fantasy", "history", "science", "travel", "children", "Comics & Manga", None]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def people(chance: random.Random) -> None:
    write("branches", ["branch_code", "branch_name", "district", "opened_on", "has_cafe"], BRANCHES)
    first = ["Ana", "Ben", "Carl", "Dina", "Eva", "Finn", "Greta", "Hugo", "Ines", "Jan", "Kira", "Leo", "Maja", "Nils"]
    last = ["Arnold", "Berg", "Cruz", "Diaz", "Ekman", "Fox", "Grant", "Holm", "Ivers", "Jonas", "Klein"]
    members = []
    for n in range(1, 151):
        kind = chance.choices(["A", "C", "S", "R"], [50, 20, 18, 12])[0]
        born = {"A": 1980, "C": 2014, "S": 2002, "R": 1948}[kind]
        birth = None if n % 19 == 0 else date(born, 1, 1) + timedelta(days=chance.randrange(-1400, 1400))
        joined = date(2018, 1, 1) + timedelta(days=chance.randrange(2650))
        branch = None if n % 31 == 0 else chance.choices(["CEN", "HAR", "HIL", "UNI", "BUS"], [40, 20, 18, 15, 7])[0]
        town = chance.choices(["Lund", "Marl", "OSTBY", "Port Vale", None], [45, 25, 14, 12, 4])[0]
        members.append((n, f"{chance.choice(first)} {chance.choice(last)}", kind, town, branch, joined, birth))
    columns = ["member_id", "member_name", "kind", "town", "home_branch", "joined_on", "birth_date"]
    write("members", columns, members)


def stock(chance: random.Random) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    nouns = ["River", "Winter", "Garden", "Secret", "Island", "Machine", "Letter", "Fox", "Train", "Silence", "Map"]
    authors = ["Mara Lindt", "T. Okoro", "Jules Perrin", "Aiko Mori", "Sam Hollis", "Vera Stein", "Paul Reyes", None]
    books = []
    for n in range(1, 91):
        title = f"The {chance.choice(['Last', 'Red', 'Quiet', 'Lost', 'Long'])} {chance.choice(nouns)} {n}"
        genre = chance.choices(GENRES, [22, 16, 12, 12, 8, 18, 8, 4])[0]
        language = chance.choices(["en", "de", "fr", "es"], [60, 20, 12, 8])[0]
        pages = None if n % 23 == 0 else chance.randrange(6, 70) * 10
        books.append((n, title, chance.choice(authors), genre, language, chance.randrange(1985, 2025), pages))
    write("books", ["book_no", "title", "author", "genre", "language", "published_year", "pages"], books)

    copies: list[tuple[Any, ...]] = []
    for book in books:
        for _ in range(chance.choices([0, 1, 2, 3, 4], [6, 30, 30, 22, 12])[0]):
            branch = chance.choices(["CEN", "HAR", "HIL", "UNI", "BUS"], [38, 20, 20, 14, 8])[0]
            bought = date(max(book[5], 2012), 1, 1) + timedelta(days=chance.randrange(340))
            condition = chance.choices("NGWL", [18, 52, 24, 6])[0]
            price = None if chance.random() < 0.05 else chance.choice([990, 1299, 1299, 1850, 2400, 3995])
            copies.append((f"K{len(copies) + 1:04}", book[0], branch, bought, condition, price))
    write("copies", ["copy_id", "book_no", "branch_code", "bought_on", "condition", "price_cents"], copies)
    return books, copies


def lending(chance: random.Random, copies: list[tuple[Any, ...]]) -> None:
    loans: list[tuple[Any, ...]] = []
    usable = copies[:-6]  # some copies are never lent
    for day in range(180):
        at = BEGIN + timedelta(days=day)
        if day in CLOSED or at.weekday() == 6:
            continue
        for _ in range(chance.randrange(2, 12)):
            lent = at + timedelta(minutes=chance.randrange(9 * 60, 19 * 60))
            copy = chance.choice(usable)
            member = min(int(chance.paretovariate(0.4)), 140)
            branch = copy[2] if chance.random() < 0.9 else "CEN"
            renewals = chance.choices([0, 1, 2, 3], [70, 18, 9, 3])[0]
            due = (lent + timedelta(days=21 + 14 * renewals)).date()
            back: datetime | None = lent + timedelta(
                days=chance.randrange(1, 30 + 14 * renewals), minutes=chance.randrange(-300, 300)
            )
            back = back if back is not None and back < END and chance.random() > 0.02 else None
            loans.append((copy[0], None if chance.random() < 0.02 else member, branch, lent, due, back, renewals))
    loans.sort(key=lambda one: one[3])
    loans = [(5000 + n, *one) for n, one in enumerate(loans)]
    columns = ["loan_id", "copy_id", "member_id", "branch_code", "lent_at", "due_on", "returned_at", "renewals"]
    write("loans", columns, loans)

    fines = []
    for loan in loans:
        late = (loan[6].date() - loan[5]).days if loan[6] else 0
        if late > 0 and chance.random() < 0.85:
            fines.append((loan[0], "LATE", 25 * late, loan[6].date()))
        elif loan[6] is None and chance.random() < 0.1:
            fines.append((loan[0], "LOST", chance.choice([1500, 2500]), loan[5] + timedelta(days=30)))
        elif loan[6] and chance.random() < 0.03:
            fines.append((loan[0], "DMG", chance.choice([500, 800, 1200]), loan[6].date()))
    fines.sort(key=lambda one: (one[3], one[0]))
    rows = []
    for n, (loan_id, reason, cents, day) in enumerate(fines):
        paid = None if chance.random() < 0.3 else day + timedelta(days=int(chance.expovariate(1 / 8)))
        rows.append((n + 1, loan_id, reason, cents, day, paid, chance.random() < 0.06))
    write("fines", ["fine_id", "loan_id", "reason", "amount_cents", "charged_on", "paid_on", "is_waived"], rows)


def waiting(chance: random.Random, books: list[tuple[Any, ...]]) -> None:
    holds = []
    for _ in range(240):
        placed = BEGIN + timedelta(days=chance.randrange(176), minutes=chance.randrange(8 * 60, 22 * 60))
        status = chance.choices(["W", "R", "P", "X", "E"], [14, 8, 60, 10, 8])[0]
        ready = placed + timedelta(hours=chance.randrange(4, 600)) if status in "RPE" else None
        taken = ready + timedelta(hours=chance.randrange(2, 150)) if status == "P" and ready is not None else None
        book = books[min(int(chance.paretovariate(0.6)), 80)][0]
        branch = chance.choices(["CEN", "HAR", "HIL", "UNI"], [45, 22, 20, 13])[0]
        holds.append((book, chance.randrange(1, 125), branch, placed, ready, taken, status))
    holds.sort(key=lambda one: one[3])
    columns = ["hold_id", "book_no", "member_id", "pickup_branch", "placed_at", "ready_at", "picked_up_at", "status"]
    write("holds", columns, [(700 + n, *one) for n, one in enumerate(holds)])


def main() -> None:
    chance = random.Random(61)
    people(chance)
    books, copies = stock(chance)
    lending(chance, copies)
    waiting(chance, books)


if __name__ == "__main__":
    main()
