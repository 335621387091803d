"""Makes the data of the shop that hires out tools: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = datetime(2026, 1, 5)
BRANDS = ["Boltex", "Ferrum", "Hauser"]
CITIES = ["Norden", "Emden", "Leer", None]
NAMES = ["Holt", "Krug", "Lang", "Maas", "Nagel", "Otte", "Pohl", "Raab", "Sand", "Timm", "Ulm", "Voss"]
CLERKS = ["Rita", "Sven", "Theo"]
VANS = ["NOR-T 11", "NOR-T 12", "NOR-T 15"]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def text(flag: bool) -> str:
    return "true" if flag else "false"


def main() -> None:
    chance = random.Random(27)
    rates = {"DRL": 14.0, "SAW": 22.0, "MIX": 38.0, "LAD": 9.0, "EXC": 165.0}
    tools: list[tuple[Any, ...]] = []
    for n in range(1, 33):
        kind = chance.choices(list(rates), weights=[8, 6, 4, 5, 3])[0]
        tools.append(
            (
                f"T{n:03}",
                kind,
                chance.choice(BRANDS),
                date(2015, 1, 1) + timedelta(days=chance.randrange(4000)),
                round(rates[kind] * chance.uniform(18, 30), 2),
                rates[kind],
                chance.choice(["A1", "A2", "B1"]) if kind != "EXC" else None,
                date(2026, 3, 1) + timedelta(days=n) if chance.random() < 0.1 else None,
            )
        )
    customers = [
        (
            n,
            f"{chance.choice(['Anke', 'Bernd', 'Clara', 'Dirk', 'Elke'])} {name}" if n % 2 else f"{name} Ltd",
            chance.choice(["BLD", "GRD", "PRV", "PNT"]),
            chance.choice(CITIES),
            date(2018, 1, 1) + timedelta(days=chance.randrange(2900)),
            chance.choice([None, 500.0, 1000.0, 2500.0]),
            text(chance.random() < 0.15),
        )
        for n, name in enumerate(NAMES * 2, start=1)
    ]
    hires: list[tuple[Any, ...]] = []
    deliveries: list[tuple[Any, ...]] = []
    for n in range(1, 421):
        tool = tools[min(int(chance.triangular(0, 29, 6)), 28)]
        out = BEGIN + timedelta(days=chance.randrange(150), hours=chance.randint(7, 17), minutes=chance.randrange(60))
        due = out + timedelta(days=chance.randint(1, 7))
        back = due + timedelta(hours=chance.randint(-40, 30)) if chance.random() < 0.93 else None
        back = max(back, out + timedelta(hours=2)) if back else None
        hires.append(
            (
                n,
                tool[0],
                chance.randint(1, 22),
                out,
                due,
                back,
                chance.choice([None, 50.0, 100.0, 200.0]),
                round(tool[5] * ((back - out).days + 1), 2) if back else None,
                chance.choice(["SHP", "SHP", "WEB", "TEL"]),
                chance.choice(CLERKS),
            )
        )
        if chance.random() < 0.3:
            ended = chance.choices(["OK", "HOM", "ADR"], weights=[8, 1, 1])[0]
            deliveries.append(
                (
                    9000 + n,
                    n,
                    chance.choice(VANS),
                    out,
                    out + timedelta(minutes=chance.randint(9, 80)) if ended == "OK" else None,
                    round(chance.uniform(1.5, 44), 1),
                    round(chance.uniform(4, 900), 1),
                    ended,
                )
            )
    repairs: list[tuple[Any, ...]] = []
    for n in range(1, 81):
        found = BEGIN.date() + timedelta(days=chance.randrange(150))
        repairs.append(
            (
                n,
                chance.choice(tools[:24])[0],
                found,
                found + timedelta(days=chance.randrange(20)) if chance.random() < 0.85 else None,
                chance.choice(["MOT", "ELC", "BLD", "OTH"]),
                round(chance.uniform(3, 260), 2) if chance.random() < 0.9 else None,
                round(chance.uniform(0.5, 9), 1),
                text(chance.random() < 0.25),
            )
        )
    write(
        "tools",
        ["tool_no", "tool_type", "brand", "bought_on", "price_eur", "day_rate_eur", "shelf", "scrapped_on"],
        tools,
    )
    write(
        "customers",
        ["customer_no", "customer_name", "trade", "city", "since", "credit_limit_eur", "blocked"],
        customers,
    )
    write(
        "hires",
        [
            "hire_no",
            "tool_no",
            "customer_no",
            "out_at",
            "due_back_at",
            "back_at",
            "deposit_eur",
            "charged_eur",
            "channel",
            "clerk",
        ],
        hires,
    )
    write(
        "repairs",
        [
            "repair_no",
            "tool_no",
            "found_on",
            "done_on",
            "fault",
            "parts_eur",
            "labour_hours",
            "paid_by_customer",
        ],
        repairs,
    )
    write(
        "deliveries",
        ["delivery_no", "hire_no", "van", "left_at", "arrived_at", "distance_km", "load_kg", "outcome"],
        deliveries,
    )


if __name__ == "__main__":
    main()
