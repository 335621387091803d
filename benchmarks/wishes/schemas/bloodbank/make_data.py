"""Makes the data of the blood bank: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2026, 1, 5)
DAYS = 170
SITES: list[tuple[Any, ...]] = [
    (1, "Rosenhof Centre", "FIX", "North", 12, date(2009, 4, 1)),
    (2, "Lindgate", "FIX", "North", 8, date(2015, 9, 14)),
    (3, "Quayside", "FIX", "South", 10, date(2011, 2, 1)),
    (4, "Blue Bus", "MOB", "South", 4, date(2018, 6, 1)),
    (5, "Green Bus", "MOB", "East", 4, date(2020, 5, 4)),
    (6, "Ashford Hall", "FIX", "East", 6, date(2021, 1, 11)),
    (7, "White Van", "MOB", None, 2, date(2026, 5, 25)),  # not used so far
]
HOSPITALS: list[tuple[Any, ...]] = [
    (1, "St Brigid", "Karrow", True, 4.5),
    (2, "Queen Maud", "Karrow", True, 7.0),
    (3, "Tarn Valley Clinic", "Tarn", False, 38.0),
    (4, "Holmes Infirmary", "Ebbing", False, 22.5),
    (5, "Ebbing General", "Ebbing", True, 21.0),
    (6, "Saint Luke", "Oxmere", False, 55.5),
    (7, "Heart Clinic", "Oxmere", False, 61.0),
    (8, "Old Abbey", "Tarn", False, 40.5),  # orders nothing
]
GROUPS = ["O+", "A+", "B+", "AB+", "O-", "A-", "B-", "AB-"]
TOWNS = ["Karrow", "Tarn", "Ebbing", "Oxmere", "Little Ash", None]
NURSES = ["Ruth Adler", "Pim de Boer", "Samira Haddad", "Jonas Lund", "Carla Rossi"]
FIRST = ["Ada", "Ben", "Chloe", "Dario", "Elif", "Finn", "Greta", "Hugo", "Ivana", "Jan", "Kim", "Lars", "Mona", "Nils"]
LAST = ["Abel", "Bryce", "Conti", "Dunn", "Ek", "Ferro", "Gale", "Hart", "Ilves", "Jung", "Kerr", "Lowe", "Moss"]
SHELF = {"RBC": 42, "FFP": 365, "PLT": 5}


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def donors(chance: random.Random) -> int:
    rows: list[tuple[Any, ...]] = []
    for number in range(1, 261):
        group = chance.choices(GROUPS, [37, 34, 9, 4, 7, 6, 2, 1])[0]
        came = date(2016, 1, 1) + timedelta(days=chance.randrange(3790))
        barred = BEGIN + timedelta(days=chance.randrange(40, 400)) if chance.random() < 0.08 else None
        rows.append(
            (
                number + 5000,
                f"{chance.choice(FIRST)} {chance.choice(LAST)}",
                date(1956, 1, 1) + timedelta(days=chance.randrange(18200)),
                None if chance.random() < 0.05 else group,
                chance.choices(TOWNS, [40, 15, 20, 14, 8, 3])[0],
                came,
                chance.random() < 0.6,
                barred,
            )
        )
    columns = ["donor_no", "donor_name", "born_on", "blood_group", "home_town", "joined_on", "may_call", "barred_until"]
    write("donors", columns, rows)
    return len(rows)


def gifts(chance: random.Random, donors: int) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        if day.weekday() == 6 or day == date(2026, 4, 3):
            continue
        for _ in range(chance.randrange(3, 10)):
            at = datetime(day.year, day.month, day.day, chance.randrange(8, 19), chance.randrange(0, 60, 5))
            who = None if chance.random() < 0.02 else 5001 + int(donors * 0.9 * chance.random() ** 1.4)
            kind = chance.choices(["WB", "PL", "PT"], [68, 22, 10])[0]
            ended = chance.choices(["OK", "INT", "REF"], [86, 6, 8])[0]
            full = {"WB": 470, "PL": 650, "PT": 280}[kind]
            volume = {"OK": full + chance.randrange(-12, 13), "INT": chance.randrange(60, 240), "REF": None}[ended]
            iron = round(chance.gauss(12.2 if ended == "REF" else 14.1, 0.9), 1)
            site = chance.choices([1, 2, 3, 4, 5, 6], [30, 16, 22, 11, 8, 13])[0]
            minutes = None if ended == "REF" else chance.randrange(6, 15) + {"WB": 0, "PL": 32, "PT": 60}[kind]
            nurse = None if chance.random() < 0.03 else chance.choices(NURSES, [28, 24, 20, 16, 12])[0]
            rows.append((who, site, at, kind, ended, volume, iron, minutes, nurse))
    rows.sort(key=lambda one: (one[2], one[1], one[0] or 0))
    numbered = [(n + 30001, *one) for n, one in enumerate(rows)]
    columns = ["donor_no", "site_id", "taken_at", "gift_kind", "outcome", "volume_ml", "hb_g_dl", "minutes", "nurse"]
    write("gifts", ["gift_no", *columns], numbered)
    return numbered


def bags(chance: random.Random, given: list[tuple[Any, ...]]) -> None:
    rows: list[tuple[Any, ...]] = []
    for number, _who, _site, at, kind, ended, *_ in given:
        if ended != "OK":
            continue
        for product in {"WB": ["RBC", "FFP"], "PL": ["FFP"], "PT": ["PLT"]}[kind]:
            made = at.date() + timedelta(days=chance.randrange(0, 2))
            ends = made + timedelta(days=SHELF[product])
            state = chance.choices(["STK", "OUT", "EXP", "DES"], [18, 66, 11, 5])[0]
            cost = round({"RBC": 128.0, "FFP": 61.5, "PLT": 402.0}[product] * chance.uniform(0.95, 1.1), 2)
            test = chance.choices(["C", "P", "U"], [93, 3, 4])[0]
            rows.append((number, product, made, ends, state, test, cost))
    columns = ["gift_no", "product", "made_on", "expires_on", "bag_state", "test_result", "cost_eur"]
    write("bags", ["bag_no", *columns], [(n + 800001, *one) for n, one in enumerate(rows)])


def requests(chance: random.Random) -> None:
    rows: list[tuple[Any, ...]] = []
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        for _ in range(chance.randrange(0, 6)):
            at = datetime(day.year, day.month, day.day, chance.randrange(24), chance.randrange(60))
            urgency = chance.choices([1, 2, 3], [64, 25, 11])[0]
            product = chance.choices(["RBC", "FFP", "PLT"], [62, 22, 16])[0]
            asked = chance.randrange(1, 13)
            sent = asked if chance.random() < 0.78 else chance.randrange(0, asked)
            out = at + timedelta(minutes=int(chance.lognormvariate(5.2, 0.5) / urgency)) if sent else None
            house = None if chance.random() < 0.01 else chance.choices(range(1, 8), [26, 24, 9, 12, 15, 9, 5])[0]
            rows.append((house, at, product, urgency, asked, sent, out, chance.random() < 0.05))
    rows.sort(key=lambda one: (one[1], one[0] or 0))
    columns = ["hospital_id", "asked_at", "product", "urgency", "bags_asked", "bags_sent", "sent_at", "was_withdrawn"]
    write("requests", ["request_no", *columns], [(n + 1, *one) for n, one in enumerate(rows)])


def main() -> None:
    chance = random.Random(4711)
    write("sites", ["site_id", "site_name", "site_kind", "region", "beds", "opened_on"], SITES)
    write("hospitals", ["hospital_id", "hospital_name", "town", "has_trauma_unit", "distance_km"], HOSPITALS)
    bags(chance, gifts(chance, donors(chance)))
    requests(chance)


if __name__ == "__main__":
    main()
