"""Writes the data of the cleaning firm, always the same."""

import csv
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random

HERE = Path(__file__).parent
FIRST = date(2024, 4, 1)
DAYS = 900
COMPANIES = ("Adler", "Brandt", "Corvus", "Delta", "Elbe", "Falk", "Gerber", "Hanse", "Iris", "Jansen", "Kolb", "Linde")
TAILS = ("& Partner", "GmbH", "Systems", "Praxis")
NAMES = ("Amina", "Bogdan", "Carla", "Dilek", "Elena", "Farid", "Gosia", "Hana", "Ivan", "Joana")
SURNAMES = ("Kaya", "Lopes", "Marin", "Nowak", "Osman", "Popa", "Rossi")
PRODUCTS = {"glass cleaner": 3.1, "floor polish": 5.9, "descaler": 4.2, "all-purpose cleaner": 2.4, "disinfectant": 6.5}
TOPICS = ("DUS", "DUS", "BIN", "BIN", "DAM", "NOS", "KEY")


def write(name: str, columns: str, rows: list[list[object]]) -> None:
    """One file of the data, empty where a value is None."""
    with (HERE / "data" / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns.split())
        writer.writerows([_text(value) for value in row] for row in rows)


def _text(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value


def clients(chance: Random) -> list[list[object]]:
    """Forty companies."""
    rows: list[list[object]] = []
    for number in range(1, 41):
        since = FIRST + timedelta(days=chance.randrange(-400, 700))
        notice = since + timedelta(days=chance.randrange(200, 500)) if chance.random() < 0.2 else None
        manager = chance.choice(("Petra Vogt", "Sven Arlt", "Ulla Metz", None))
        name = f"{COMPANIES[number % 12]} {TAILS[number // 12]}"
        rows.append(
            [
                number,
                name,
                chance.choice(("LAW", "MED", "TEC", "PUB")),
                since,
                manager,
                chance.choice((14, 30, 60)),
                notice,
            ]
        )
    return rows


def sites(chance: Random) -> list[list[object]]:
    """Seventy offices; the last three clients have none."""
    return [
        [
            200 + number,
            number if number < 38 else chance.randrange(1, 38),
            f"{chance.choice(('Tower', 'Court', 'Hall', 'House'))} {number}",
            chance.choice(("Centre", "Harbour", "Northside", "Westend")),
            round(chance.uniform(90, 2400), 1),
            chance.randrange(1, 9),
            chance.random() < 0.4,
            float(chance.randrange(20, 400) * 10),
        ]
        for number in range(1, 71)
    ]


def cleaners(chance: Random) -> list[list[object]]:
    """Thirty people."""
    rows: list[list[object]] = []
    for number in range(1, 31):
        hired = FIRST + timedelta(days=chance.randrange(-900, 500))
        left = hired + timedelta(days=chance.randrange(300, 900)) if chance.random() < 0.25 else None
        name = f"{NAMES[number % 10]} {SURNAMES[number % 7]}"
        team = chance.choice(("E", "L", "N", None))
        rows.append([number, name, team, hired, left, round(chance.uniform(13.5, 19.5), 2), chance.random() < 0.5])
    return rows


def visits(chance: Random) -> list[list[object]]:
    """Seventeen hundred visits; the last three sites and the last two cleaners have none."""
    rows: list[list[object]] = []
    for number in range(1, 1701):
        began = datetime.combine(FIRST, datetime.min.time()) + timedelta(
            days=number * DAYS // 1701, minutes=chance.randrange(300, 1380, 15)
        )
        kind = chance.choice(("REG", "REG", "REG", "DEP", "WIN"))
        status = chance.choices(("DON", "MIS", "CAN"), (88, 5, 7))[0]
        planned = chance.randrange(2, 17) / 2
        worked = planned + chance.choice((-0.5, 0, 0, 0.25, 0.5)) if status == "DON" else 0.0
        charge = 0.0 if kind == "REG" or status != "DON" else round(planned * chance.uniform(28, 45), 2)
        rows.append(
            [number, chance.randrange(201, 268), chance.randrange(1, 29), began, kind, status, planned, worked, charge]
        )
    return rows


def supplies(chance: Random, done: list[list[object]]) -> list[list[object]]:
    """What was used in most of the visits that were done."""
    rows: list[list[object]] = []
    for visit in done:
        for product in chance.sample(sorted(PRODUCTS), chance.choice((0, 1, 1, 2))):
            litres = round(chance.uniform(0.1, 2.5), 2)
            rows.append([len(rows) + 1, visit[0], product, litres, round(litres * PRODUCTS[product], 2)])
    return rows


def complaints(chance: Random, all_visits: list[list[object]]) -> list[list[object]]:
    """Two hundred and thirty complaints."""
    rows: list[list[object]] = []
    for visit in sorted(chance.sample(all_visits, 230)):
        received = visit[3] + timedelta(hours=chance.randrange(2, 60))  # type: ignore[operator]
        settled = received + timedelta(hours=chance.randrange(3, 400)) if chance.random() < 0.85 else None
        about = visit[0] if chance.random() < 0.7 else None
        credit = round(chance.uniform(15, 220), 2) if chance.random() < 0.35 else None
        rows.append(
            [len(rows) + 1, visit[1], about, received, settled, chance.choice(TOPICS), chance.randrange(1, 6), credit]
        )
    return rows


def main() -> None:
    """All files."""
    chance = Random(31)
    write(
        "clients",
        "client_no company industry client_since account_manager payment_days gave_notice_on",
        clients(chance),
    )
    write(
        "sites", "site_no client_no site_name district floor_space_m2 floors needs_key monthly_fee_eur", sites(chance)
    )
    write("cleaners", "cleaner_no cleaner_name team hired_on left_on hourly_wage_eur has_licence", cleaners(chance))
    all_visits = visits(chance)
    write(
        "visits", "visit_no site_no cleaner_no began_at kind status hours_planned hours_worked charge_eur", all_visits
    )
    done = [visit for visit in all_visits if visit[5] == "DON"]
    write("supplies_used", "usage_no visit_no product litres cost_eur", supplies(chance, done))
    found = complaints(chance, all_visits)
    write("complaints", "complaint_no site_no visit_no received_at settled_at topic severity credit_eur", found)


if __name__ == "__main__":
    main()
