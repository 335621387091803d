"""Makes the data of the self-storage company: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2025, 2, 1)
LAST = date(2026, 8, 31)
SITES: list[tuple[Any, ...]] = [
    ("EAS", "Eastgate", "Marlow", True, date(2011, 3, 1), "Ruth Oduya"),
    ("QUA", "Quarry Lane", "Marlow", False, date(2016, 9, 12), "Piotr Wolny"),
    ("STN", "STATION YARD", "Hexley", True, date(2019, 5, 6), "Ruth Oduya"),
    ("BRI", "Bridge Works", "Port Ansel", True, date(2023, 11, 20), None),
    ("MIL", "Old Mill", "Hexley", False, date(2026, 7, 15), "Sana Iqbal"),  # no rental yet
]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def units(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for site, count in (("EAS", 62), ("QUA", 38), ("STN", 51), ("BRI", 44), ("MIL", 20)):
        for n in range(count):
            area = chance.choice([1.5, 2.5, 4.0, 6.0, 8.5, 12.0, 18.0])
            heated = chance.random() < 0.4
            door = chance.choices(["RLL", "SWG", "SLD", None], [55, 30, 9, 6])[0]
            rent = round(
                {"EAS": 24, "QUA": 16, "STN": 21, "BRI": 18, "MIL": 14}[site]
                + area * chance.choice([9.5, 10.2, 11.0])
                + 12 * heated,
                2,
            )
            closed = BEGIN + timedelta(days=chance.randrange(500)) if chance.random() < 0.08 else None
            rows.append(
                (f"{site}-{n + 1:03}", site, chance.choice([0, 0, 1, 1, 2, -1]), area, heated, door, rent, closed)
            )
    return rows


def tenants(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(190):
        kind = chance.choices(["PRV", "BUS", "STU"], [58, 28, 14])[0]
        first, last = (
            chance.choice(["Ana", "Bo", "Cy", "Dee", "Eli", "Fay"]),
            chance.choice(["Hart", "Imre", "Joss", "Kerr"]),
        )
        name = f"{last} & Sons {n}" if kind == "BUS" else f"{first} {last} {n}"
        town = chance.choices(["Marlow", "Hexley", "Port Ansel", "DUNBY", None], [38, 27, 20, 9, 6])[0]
        how = chance.choices(["WEB", "REF", "SGN", "FLY", None], [46, 24, 15, 7, 8])[0]
        rows.append(
            (3001 + n, name, kind, town, how, date(2024, 11, 1) + timedelta(days=3 * n), chance.random() < 0.55)
        )
    return rows


def rentals(
    chance: random.Random, rooms: list[tuple[Any, ...]], people: list[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for room in rooms:
        if room[1] == "MIL" or chance.random() < 0.06:
            continue
        day = BEGIN + timedelta(days=chance.randrange(120))
        while day < LAST:
            known = [one for one in people[:178] if one[5] <= day]
            tenant = chance.choice(known)
            until: date | None = day + timedelta(days=int(chance.expovariate(1 / 230)) + 25)
            if room[7] and until and room[7] < day:
                break
            until = None if until and until > LAST else until
            cut = chance.choice([5.0, 10.0, 15.0, 25.0]) if chance.random() < 0.3 else None
            rent = round(room[6] * (1 - (cut or 0) / 100), 2)
            insured = chance.choice([1000.0, 2500.0, 5000.0, 12000.0]) if chance.random() < 0.55 else None
            why = (
                chance.choices(["MOV", "EXP", "SIZ", "DEB", "OTH", None], [40, 21, 13, 8, 6, 12])[0] if until else None
            )
            rows.append((room[0], tenant[0], day, until, rent, cut, insured, why))
            if until is None:
                break
            day = until + timedelta(days=chance.randrange(4, 90))
    rows.sort(key=lambda one: (one[2], one[0]))
    return [(50001 + n, *row) for n, row in enumerate(rows)]


def charges(chance: random.Random, contracts: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for contract in contracts:
        due, end = contract[3], contract[4] or LAST
        while due <= end:
            late = chance.choices([-2, 0, 1, 6, 19, 45], [22, 40, 14, 12, 8, 4])[0]
            paid: datetime | None = datetime(
                due.year, due.month, due.day, chance.randrange(7, 21), chance.randrange(60)
            )
            paid = paid + timedelta(days=late) if paid else None
            if chance.random() < 0.05 or (contract[8] == "DEB" and chance.random() < 0.4):
                paid = None
            how = chance.choices(["DDB", "CRD", "TRF", "CSH"], [52, 27, 16, 5])[0] if paid else None
            letters = 0 if paid and late < 6 else 1 if paid and late < 19 else chance.choice([1, 2, 3])
            rows.append((contract[0], due, round(contract[5] * 100), paid, how, letters))
            year, month = divmod(due.year * 12 + due.month, 12)
            due = date(year, month + 1, min(due.day, 28))
    rows.sort(key=lambda one: (one[1], one[0]))
    names = ["charge_no", "rental_no", "due_on", "amount_cents", "paid_at", "method", "reminders"]
    write("charges", names, [(700001 + n, *row) for n, row in enumerate(rows)])


def entries(chance: random.Random, contracts: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    begin = date(2026, 3, 1)
    for n in range(184):
        day = begin + timedelta(days=n)
        if chance.random() < 0.02:  # the gate's log of that day is lost
            continue
        running = [one for one in contracts if one[3] <= day and (one[4] is None or one[4] >= day)]
        for _ in range(chance.randrange(6, 20 if day.weekday() < 5 else 28)):
            contract = chance.choice(running)
            hour = chance.choices([5, 7, 9, 11, 14, 17, 20, 23], [2, 8, 18, 20, 18, 20, 10, 4])[0]
            at = datetime(day.year, day.month, day.day, hour, chance.randrange(60), chance.randrange(60))
            left = None if chance.random() < 0.05 else at + timedelta(minutes=int(chance.expovariate(1 / 34)) + 3)
            who = contract[2] if chance.random() < 0.93 else None
            with_ = chance.choices(["APP", "PIN", "TAG"], [48, 37, 15])[0]
            rows.append((contract[1][:3], who, at, left, with_, chance.random() < 0.22))
    rows.sort(key=lambda one: one[2])
    names = ["entry_id", "site_code", "tenant_no", "entered_at", "left_at", "opened_with", "has_trolley"]
    write("entries", names, [(1 + n, *row) for n, row in enumerate(rows)])


def main() -> None:
    chance = random.Random(40127)
    write("sites", ["site_code", "site_name", "town", "has_lift", "opened_on", "manager"], SITES)
    rooms, people = units(chance), tenants(chance)
    names = ["unit_id", "site_code", "floor", "area_sqm", "is_heated", "door", "list_rent_eur", "out_of_use_since"]
    write("units", names, rooms)
    names = ["tenant_no", "tenant_name", "kind", "home_town", "found_us", "registered_on", "wants_newsletter"]
    write("tenants", names, people)
    contracts = rentals(chance, rooms, people)
    names = ["rental_no", "unit_id", "tenant_no", "started_on", "ended_on", "rent_eur", "discount_pct", "insured_eur"]
    write("rentals", [*names, "leave_reason"], contracts)
    charges(chance, contracts)
    entries(chance, contracts)


if __name__ == "__main__":
    main()
