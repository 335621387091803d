"""Makes the data of the housing agency: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
LAST_DAY = date(2026, 6, 30)
UNIVERSITIES = ["Technical University", "Technical University", "Art School", "University of Leinau", None]
COUNTRIES = ["Germany", "Germany", "India", "Turkey", "Spain", "Brazil", "Poland"]
CONTRACTORS = ["Rohr & Co", "Blitz Elektro", "Holzmann", "Meister Huber", "Allfix"]
GIVEN = ["Amir", "Berta", "Chen", "Diego", "Emre", "Fatima", "Greta", "Hugo", "Ines", "Jonas", "Kavya", "Lena"]
FAMILY = ["Sander", "Okafor", "Yilmaz", "Novak", "Rao", "Silva", "Weber", "Garcia", "Kowal", "Lind", "Moreau"]

HOUSES = [
    ("H1", "Bahnhofstr. 4", "Nordstadt", "GAS", 4, "false", 900, "Familie Adler"),
    ("H2", "Uferweg 12", "Altstadt", "DST", 5, "true", 350, None),
    ("H3", "Gartenstr. 31", "Nordstadt", "HPU", 3, "false", 1400, "Stadtbau"),
    ("H4", "Am Markt 2", "Altstadt", "GAS", 4, "false", 600, "Familie Adler"),
    ("H5", "Campusallee 7", "Westend", "DST", 8, "true", 120, None),
    ("H6", "Mühlweg 9", "Süd", "GAS", 2, "false", 2600, "Stadtbau"),
    ("H7", "Lindenplatz 1", "Süd", "HPU", 6, "true", 2100, "C. Brandt"),
]


def write(name: str, columns: str, rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns.split())
        writer.writerows(rows)


def text(flag: bool) -> str:
    return "true" if flag else "false"


def rooms(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(101, 161):
        house = HOUSES[chance.choice([0, 1, 1, 2, 3, 4, 4, 4, 5])]  # none in the last house yet
        kind = chance.choice(["SGL", "SGL", "DBL", "STU"])
        area = round({"SGL": 11, "DBL": 18, "STU": 24}[kind] + chance.uniform(0, 8), 1)
        rent = float(round(area * chance.uniform(17, 24) / 5) * 5)
        since = date(2023, 9, 1) + timedelta(days=chance.randrange(700))
        rows.append(
            (n, house[0], kind, chance.randrange(house[4]), area, text(chance.random() < 0.6), rent, since),
        )
    return rows


def tenants(chance: random.Random) -> list[tuple[Any, ...]]:
    names = [f"{given} {family}" for given in GIVEN for family in FAMILY]
    return [
        (
            n,
            name,
            chance.choice(UNIVERSITIES),
            chance.choice(COUNTRIES),
            date(1997, 1, 1) + timedelta(days=chance.randrange(3600)),
            text(chance.random() < 0.2),
        )
        for n, name in enumerate(chance.sample(names, 110), start=1)
    ]


def tenancies(chance: random.Random, let: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for room in let[:52]:  # some rooms were never let
        begin = max(date(2024, 3, 1), room[7]) + timedelta(days=chance.randrange(90))
        while begin < LAST_DAY:
            end = begin + timedelta(days=chance.randrange(120, 640))
            left = end <= LAST_DAY
            notice = end - timedelta(days=chance.randrange(30, 100)) if left or chance.random() < 0.3 else None
            if notice and notice > LAST_DAY:
                notice = None
            rent = room[6] + chance.choice([-20, 0, 0, 0, 15])
            deposit = rent * chance.choice([1, 2, 2, 3])
            back = round(deposit * chance.choice([1, 1, 1, 0.8, 0.5, 0]), 2) if left else None
            if left and chance.random() < 0.15:
                back = None
            person = chance.randint(1, 104)
            found.append((room[0], person, begin, notice, end if left else None, rent, deposit, back))
            begin = end + timedelta(days=chance.randrange(1, 60))
    found.sort(key=lambda row: (row[2], row[0]))
    return [(n, *row) for n, row in enumerate(found, start=1)]


def months(begin: date, end: date) -> list[date]:
    year, month = (begin.year, begin.month + 1) if begin.month < 12 else (begin.year + 1, 1)
    found = []
    while date(year, month, 3) <= end:
        found.append(date(year, month, 3))
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
    return found


def rent_payments(chance: random.Random, contracts: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for contract in contracts:
        for due in months(contract[3], contract[5] or LAST_DAY):
            if chance.random() < 0.06:
                rows.append((contract[0], due, None, contract[6], 0.0, None))
                continue
            late = chance.choice([-2, -1, -1, 0, 0, 0, 1, 3, 9, 21])
            at = datetime.combine(due, datetime.min.time()) + timedelta(days=late, hours=chance.randint(7, 20))
            part = chance.choices([1, 0.5, 0.9], weights=[20, 1, 1])[0]
            way = chance.choice(["TRF", "TRF", "DDB", "DDB", "DDB", "CSH", "CRD"])
            rows.append((contract[0], due, at, contract[6], round(contract[6] * part, 2), way))
    rows.sort(key=lambda row: (row[1], row[0]))
    return [(n, *row) for n, row in enumerate(rows, start=1)]


def repairs(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(1, 241):
        trade = chance.choice(["PLB", "PLB", "ELE", "CAR", "HTG", "PNT"])
        at = datetime(2025, 1, 2, 7) + timedelta(days=chance.randrange(540), minutes=chance.randrange(840))
        open_still = chance.random() < 0.12
        done = None if open_still else at + timedelta(hours=chance.randrange(3, 700), minutes=chance.randrange(60))
        firm = None if open_still and chance.random() < 0.5 else chance.choice(CONTRACTORS)
        cost = None if open_still or chance.random() < 0.05 else round(chance.uniform(35, 480), 2)
        rows.append(
            (
                n,
                chance.randint(101, 156),
                at,
                done,
                trade,
                chance.choice(["H", "N", "N", "L"]),
                firm,
                cost,
                text(chance.random() < 0.2),
            )
        )
    return rows


def main() -> None:
    chance = random.Random(41)
    write("houses", "house_code street district heating floors has_lift metres_to_campus landlord", HOUSES)
    let = rooms(chance)
    write("rooms", "room_no house_code room_kind storey area_m2 furnished asking_rent_eur on_offer_since", let)
    write("tenants", "tenant_no tenant_name university home_country born_on smoker", tenants(chance))
    contracts = tenancies(chance, let)
    write(
        "tenancies",
        "tenancy_no room_no tenant_no moved_in_on notice_on moved_out_on monthly_rent_eur deposit_eur deposit_back_eur",
        contracts,
    )
    write(
        "rent_payments",
        "payment_no tenancy_no due_on paid_at due_eur paid_eur method",
        rent_payments(chance, contracts),
    )
    write(
        "repairs",
        "repair_no room_no reported_at finished_at trade priority contractor cost_eur tenant_at_fault",
        repairs(chance),
    )


if __name__ == "__main__":
    main()
