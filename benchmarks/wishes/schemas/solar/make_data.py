"""Makes the data of the solar installer: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2025, 7, 1)
LAST = date(2026, 9, 30)
CREWS: list[tuple[Any, ...]] = [
    ("A", "Alpha", "North Yard", 4, True, date(2017, 4, 3)),
    ("B", "Sunrise Crew", "North Yard", 3, False, date(2020, 2, 17)),
    ("C", "TEAM HELIO", "Canal Street", 5, True, date(2021, 8, 2)),
    ("D", "Ridge Runners", "Canal Street", 3, False, date(2024, 5, 13)),
    ("E", "Apprentices", "North Yard", 2, False, date(2026, 9, 1)),  # no job yet
]
ADVISERS = ["Tilda Rask", "Omar Haddad", "Jo Pym", "Wen Li"]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def enquiries(chance: random.Random) -> list[list[Any]]:
    rows: list[list[Any]] = []
    for n in range((LAST - BEGIN).days):
        day = BEGIN + timedelta(days=n)
        if chance.random() < 0.08:  # a day without any enquiry
            continue
        for _ in range(chance.choices([0, 1, 2, 3, 5], [14, 32, 28, 18, 8])[0]):
            at = datetime(
                day.year, day.month, day.day, chance.randrange(7, 22), chance.randrange(60), chance.randrange(60)
            )
            source = chance.choices(["WEB", "FAI", "REF", "DOR", "TEL"], [44, 9, 22, 10, 15])[0]
            where = chance.choices(["Hillside", "Old Town", "Lakeshore", "West End", None], [30, 25, 22, 16, 7])[0]
            roof = chance.choices(["TIL", "FLT", "MTL", "SLA"], [54, 23, 14, 9])[0]
            area = None if chance.random() < 0.1 else round(chance.uniform(32, 190), 1)
            adviser = chance.choices([*ADVISERS, None], [33, 27, 20, 13, 7])[0]
            rows.append([at, source, where, roof, area, adviser, "NEW", None])
    rows.sort(key=lambda one: one[0])
    return [[20001 + n, *row] for n, row in enumerate(rows)]


def quotes(chance: random.Random, leads: list[list[Any]]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for lead in leads:
        if lead[6] is None or chance.random() < 0.15:
            continue
        won = chance.random() < {"REF": 0.55, "WEB": 0.34, "FAI": 0.25, "DOR": 0.18, "TEL": 0.4}[lead[2]]
        lead[7] = "WON" if won else chance.choices(["QUO", "LST"], [40, 60])[0]
        if lead[7] == "LST":
            lead[8] = chance.choices(["PRC", "CMP", "SHD", "FIN", None], [38, 25, 12, 10, 15])[0]
        offers = chance.choices([1, 2, 3], [70, 23, 7])[0]
        sent = lead[1]
        for n in range(offers):
            sent = sent + timedelta(days=chance.randrange(1, 15), minutes=chance.randrange(300))
            power = round((lead[5] or 80) * chance.uniform(0.07, 0.13), 2)
            battery = chance.random() < 0.42
            price = round(power * chance.choice([1180, 1270, 1340]) + 5200 * battery + 900, 2)
            signed = sent.date() + timedelta(days=chance.randrange(0, 28)) if won and n == offers - 1 else None
            rows.append((lead[0], sent, power, price, battery, sent.date() + timedelta(days=30), signed))
    rows.sort(key=lambda one: (one[1], one[0]))
    return [(9001 + n, *row) for n, row in enumerate(rows)]


def jobs(chance: random.Random, offers: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for offer in offers:
        if not offer[7] or chance.random() < 0.06:
            continue
        start = offer[7] + timedelta(days=chance.randrange(12, 75))
        if start > LAST:
            continue
        crew = chance.choices(["A", "B", "C", "D", None], [32, 22, 27, 13, 6])[0]
        why = chance.choices([None, "WTH", "PRT", "GRD", "SIC"], [66, 13, 9, 8, 4])[0]
        end: date | None = start + timedelta(days=chance.randrange(1, 6) + (chance.randrange(4, 24) if why else 0))
        end = None if end and end > LAST else end
        brand = chance.choices(["Helion", "SunForge", "NOVA CELL"], [48, 34, 18])[0]
        scaffold = None if chance.random() < 0.3 else chance.randrange(62000, 248000)
        passed = None if end is None else chance.random() < (0.8 if crew == "D" else 0.92)
        rows.append((offer[0], crew, start, end, max(6, round(offer[3] / 0.43)), brand, scaffold, why, passed))
    rows.sort(key=lambda one: (one[2], one[0]))
    return [(4001 + n, *row) for n, row in enumerate(rows)]


def service_calls(chance: random.Random, done: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for job in [one for one in done if one[4]]:
        for _ in range(chance.choices([0, 1, 2, 4], [44, 31, 17, 8])[0]):
            day = job[4] + timedelta(days=int(chance.expovariate(1 / 70)) + 1)
            if day > LAST:
                continue
            at = datetime(
                day.year, day.month, day.day, chance.randrange(6, 22), chance.randrange(60), chance.randrange(60)
            )
            solved: datetime | None = at + timedelta(minutes=int(chance.expovariate(1 / 5200)) + 45)
            solved = None if chance.random() < 0.09 else solved
            fault = chance.choices(["INV", "LEK", "MON", "PAN", "BAT"], [33, 12, 30, 13, 12])[0]
            cost = round(chance.uniform(20, 640) + (300 if fault == "LEK" else 0), 2) if solved else None
            stars = chance.choices([1, 2, 3, 4, 5, None], [6, 8, 14, 24, 22, 26])[0] if solved else None
            known = job[0] if chance.random() < 0.95 else None
            rows.append((known, at, solved, fault, chance.random() < 0.71, cost, stars))
    rows.sort(key=lambda one: one[1])
    names = ["call_no", "job_no", "reported_at", "solved_at", "fault", "under_warranty", "cost_eur", "rating"]
    write("service_calls", names, [(1 + n, *row) for n, row in enumerate(rows)])


def main() -> None:
    chance = random.Random(77103)
    write("crews", ["crew_id", "crew_name", "depot", "members", "has_crane", "formed_on"], CREWS)
    leads = enquiries(chance)
    offers = quotes(chance, leads)
    names = ["enquiry_id", "received_at", "source", "district", "roof", "roof_sqm", "adviser", "status", "lost_reason"]
    write("enquiries", names, [tuple(lead) for lead in leads])
    names = [
        "quote_no",
        "enquiry_id",
        "sent_at",
        "power_kwp",
        "price_eur",
        "with_battery",
        "valid_until",
        "accepted_on",
    ]
    write("quotes", names, offers)
    done = jobs(chance, offers)
    names = ["job_no", "quote_no", "crew_id", "started_on", "finished_on", "panels", "panel_brand", "scaffold_cents"]
    write("jobs", [*names, "delay_reason", "passed_inspection"], done)
    service_calls(chance, done)


if __name__ == "__main__":
    main()
