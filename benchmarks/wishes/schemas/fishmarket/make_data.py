"""Makes the data of the fish market: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2026, 2, 2)
DAYS = 150
SPECIES: list[tuple[Any, ...]] = [
    ("COD", "Cod", "W", 35, True),
    ("HAD", "Haddock", "W", 30, True),
    ("WHG", "Whiting", "W", 27, False),
    ("PLE", "Plaice", "F", 27, True),
    ("SOL", "Sole", "F", 24, True),
    ("TUR", "Turbot", "F", 30, False),
    ("NEP", "Langoustine", "S", None, True),
    ("CRE", "Brown Crab", "S", 14, False),
    ("HER", "Herring", "O", 20, True),
    ("EEL", "Eel", "O", 40, False),  # never landed
]
PRICES = {"COD": 4.6, "HAD": 3.1, "WHG": 1.9, "PLE": 2.8, "SOL": 13.5, "TUR": 15.2, "NEP": 4.7, "CRE": 3.4, "HER": 1.1}
CATCH = {
    "TRL": ["COD", "HAD", "WHG", "PLE", "NEP"],
    "NET": ["SOL", "PLE", "TUR", "COD"],
    "POT": ["CRE", "NEP"],
    "LIN": ["COD", "HAD", "HER"],
}
NAMES = [
    "Aurora",
    "Blue Heron",
    "Concord",
    "Dauntless",
    "Emma Jane",
    "Fulmar",
    "Girl Rona",
    "Hopeful",
    "Iona",
    "Jubilee",
]
MORE = ["Kittiwake", "Laura K", "Morning Star", "Northern Light", "Ocean Pride", "Provider", "Quest", "Radiant"]
SKIPPERS = ["Ewan Main", "Tor Dahl", "Isla Reid", "Piet Vos", "Callum Watt", "Brede Moe", "Morag Sim", "Anders Lie"]
PORTS = ["Skarvik", "Wickby", "Portna", None]
TOWNS = ["Skarvik", "Wickby", "Portna", "Altmouth", "Brenno"]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def boats(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for number, name in enumerate(NAMES + MORE, 1):
        gear = chance.choices(["TRL", "NET", "POT", "LIN"], [7, 5, 3, 3])[0]
        gone = BEGIN + timedelta(days=chance.randrange(40, 120)) if number in {4, 11} else None
        port = chance.choices(PORTS, [8, 5, 4, 1])[0]
        built = chance.randrange(1978, 2023)
        rows.append((number, name, port, gear, round(chance.uniform(8, 27), 1), built, chance.choice(SKIPPERS), gone))
    columns = ["boat_id", "boat_name", "home_port", "gear", "length_m", "built_in", "skipper", "left_fleet_on"]
    write("boats", columns, rows)
    return rows


def landings(chance: random.Random, fleet: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        if day.weekday() == 6:
            continue
        for boat in fleet[:16]:  # two boats have landed nothing so far
            if chance.random() < 0.2 and not (boat[7] and boat[7] <= day):
                at = datetime(day.year, day.month, day.day, chance.randrange(3, 9), chance.randrange(60))
                sea = chance.randrange(1, 3) if boat[4] < 15 else chance.randrange(2, 8)
                fuel = None if chance.random() < 0.05 else round(sea * boat[4] * chance.uniform(14, 22), 1)
                quay = chance.choices(["N", "S", "E"], [5, 3, 2])[0]
                who = None if chance.random() < 0.01 else boat[0]
                rows.append((who, at, quay, 2 + int(boat[4] / 6), sea, fuel, chance.random() < 0.15, boat[3]))
    rows.sort(key=lambda one: (one[1], one[0] or 0))
    columns = ["landing_no", "boat_id", "landed_at", "quay", "crew", "days_at_sea", "fuel_litres", "was_inspected"]
    write("landings", columns, [(n + 7001, *one[:-1]) for n, one in enumerate(rows)])
    return [(n + 7001, *one) for n, one in enumerate(rows)]


def buyers(chance: random.Random) -> list[int]:
    first = ["Harbour", "Silver", "Old Town", "Neptune", "Gull", "Coastal", "Lighthouse", "Anchor", "Pearl", "Nordic"]
    last = {"RST": "Kitchen", "WHO": "Trading", "FMG": "Fish Shop", "FAC": "Foods"}
    rows: list[tuple[Any, ...]] = []
    for number in range(1, 33):
        kind = chance.choices(["RST", "WHO", "FMG", "FAC"], [12, 8, 8, 4])[0]
        since = date(2017, 1, 1) + timedelta(days=chance.randrange(3350))
        limit = {"RST": 4000.0, "WHO": 40000.0, "FMG": 9000.0, "FAC": 75000.0}[kind] * chance.choice([1, 1, 1.5, 2])
        exports = kind in {"WHO", "FAC"} and chance.random() < 0.5
        rows.append(
            (
                number + 200,
                f"{chance.choice(first)} {last[kind]} {number}",
                kind,
                chance.choice(TOWNS),
                limit,
                since,
                exports,
            )
        )
    columns = ["buyer_id", "buyer_name", "buyer_kind", "town", "credit_limit_eur", "registered_on", "exports"]
    write("buyers", columns, rows)
    return [row[0] for row in rows]


def lots(chance: random.Random, came: list[tuple[Any, ...]], firms: list[int]) -> dict[tuple[int, date], float]:
    rows: list[tuple[Any, ...]] = []
    owed: dict[tuple[int, date], float] = {}
    for landing, _boat, at, _quay, _crew, sea, _fuel, _seen, gear in came:
        for code in chance.sample(CATCH[gear], k=min(len(CATCH[gear]), chance.randrange(1, 4))):
            weight = round(chance.lognormvariate(4.2, 0.6) * sea / 2 + 5, 1)
            state = chance.choices(["SLD", "UNS", "WDR"], [88, 8, 4])[0]
            grade = None if chance.random() < 0.04 else chance.choices(["E", "A", "B"], [3, 5, 2])[0]
            start = round(PRICES[code] * chance.uniform(0.6, 0.9), 2)
            price = round(start * chance.uniform(1.0, 1.9), 2) if state == "SLD" else None
            who = chance.choices(firms[:29], range(40, 11, -1))[0] if state == "SLD" else None
            when = at + timedelta(minutes=chance.randrange(30, 200))
            rows.append((landing, code, grade, weight, when, state, start, price, who))
            if who and price:
                week = when.date() + timedelta(days=7 - when.weekday())
                owed[who, week] = owed.get((who, week), 0) + weight * price
    rows.sort(key=lambda one: (one[4], one[0], one[1]))
    columns = [
        "landing_no",
        "species_code",
        "grade",
        "weight_kg",
        "auctioned_at",
        "lot_state",
        "start_price_eur",
        "price_eur",
    ]
    write("lots", ["lot_no", *columns, "buyer_id"], [(n + 50001, *one) for n, one in enumerate(rows)])
    return owed


def bills(chance: random.Random, owed: dict[tuple[int, date], float]) -> None:
    rows: list[tuple[Any, ...]] = []
    for number, ((who, day), amount) in enumerate(sorted(owed.items(), key=lambda one: (one[0][1], one[0][0])), 1):
        late = chance.random() < 0.2
        paid = day + timedelta(days=chance.randrange(15, 35) if late else chance.randrange(2, 15))
        settled = chance.random() < 0.93 and paid < BEGIN + timedelta(days=DAYS + 10)
        method = chance.choices(["TRF", "DEB", "CSH"], [6, 3, 1])[0] if settled else None
        rows.append(
            (number, who, day, day + timedelta(days=14), paid if settled else None, round(amount * 100), method)
        )
    write("bills", ["bill_no", "buyer_id", "billed_on", "due_on", "paid_on", "amount_cents", "pay_method"], rows)


def main() -> None:
    chance = random.Random(2203)
    write("species", ["species_code", "species_name", "fish_group", "min_size_cm", "has_quota"], SPECIES)
    fleet = boats(chance)
    firms = buyers(chance)
    bills(chance, lots(chance, landings(chance, fleet), firms))


if __name__ == "__main__":
    main()
