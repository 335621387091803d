"""Makes the data of the wind farms: `python make_data.py` writes the same files again."""

import csv
import math
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2026, 1, 5)
DAYS = 220
SITES: list[tuple[Any, ...]] = [
    ("KAP", "Kapellen Ridge", "North", "HIL", date(2012, 6, 1), 14000, "R. Madsen"),
    ("SDB", "Sandbank", "Coast", "OFF", date(2019, 10, 15), None, "T. Iversen"),
    ("GRF", "Grafenfeld", "South", "PLN", date(2008, 3, 20), 6000, "R. Madsen"),
    ("DUN", "Dune Point", "Coast", "CST", date(2022, 5, 2), 9000, "K. Boateng"),
    ("HOH", "Hohenloh", "South", "HIL", None, 12000, None),  # is being built
]
TURBINES: list[tuple[Any, ...]] = [
    ("K-01", "KAP", "Nordvind", "N90", 2500, 80, date(2012, 6, 1), None, False),
    ("K-02", "KAP", "Nordvind", "N90", 2500, 80, date(2012, 6, 1), None, False),
    ("K-03", "KAP", "Nordvind", "N90", 2500, 80, date(2012, 6, 18), date(2026, 5, 31), False),
    ("K-04", "KAP", "Enairo", "E115", 3000, 122, date(2017, 9, 4), None, True),
    ("K-05", "KAP", "Enairo", "E115", 3000, 122, date(2017, 9, 11), None, True),
    ("S-01", "SDB", "Gale Works", "GW8", 8000, 105, date(2019, 10, 15), None, True),
    ("S-02", "SDB", "Gale Works", "GW8", 8000, 105, date(2019, 10, 22), None, True),
    ("S-03", "SDB", "Gale Works", "GW8", 8000, 105, date(2020, 2, 3), None, False),
    ("G-01", "GRF", "Nordvind", "N60", 1300, 65, date(2008, 3, 20), date(2025, 11, 30), False),
    ("G-02", "GRF", "Nordvind", "N60", 1300, 65, date(2008, 3, 20), None, False),
    ("G-03", "GRF", "Nordvind", "N60", 1300, 65, date(2008, 4, 2), None, False),
    ("D-01", "DUN", "Enairo", "E138", 4200, 131, date(2022, 5, 2), None, True),
    ("D-02", "DUN", "Enairo", "E138", 4200, 131, date(2022, 5, 9), None, False),
]
TECHNICIANS: list[tuple[Any, ...]] = [
    (501, "Oskar Lund", "Port Halden", "L", date(2011, 2, 1), None, date(2027, 4, 30)),
    (502, "Greta Vos", "Port Halden", "S", date(2016, 8, 15), None, date(2026, 6, 30)),
    (503, "Ravi Menon", "Grafenau", "S", date(2018, 1, 8), None, date(2027, 1, 31)),
    (504, "Emil Stroh", "Grafenau", "J", date(2024, 9, 2), None, date(2026, 9, 30)),
    (505, "Nadia Petit", "Port Halden", "J", date(2025, 3, 17), date(2026, 4, 30), date(2026, 12, 31)),
    (506, "Per Aas", "Kapellen", "L", date(2009, 5, 4), date(2025, 12, 31), date(2026, 2, 28)),
    (507, "Yuki Mori", "Kapellen", "S", date(2026, 8, 3), None, date(2028, 8, 31)),  # has not gone out yet
]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def running(day: date) -> list[tuple[Any, ...]]:
    return [one for one in TURBINES if one[7] is None or day <= one[7]]


def production(chance: random.Random) -> None:
    rows: list[tuple[Any, ...]] = []
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        mean = 7.5 + 2.2 * math.cos(n / 365 * 6.28) + chance.gauss(0, 1.9)
        for one in running(day):
            if chance.random() < 0.02:
                continue  # the row of that day was lost
            wind = max(0.8, mean + {"SDB": 1.8, "DUN": 1.1, "GRF": -1.2}.get(one[1], 0) + chance.gauss(0, 0.5))
            down = 0 if chance.random() < 0.72 else round(min(1440, chance.expovariate(1 / 140)))
            down = 1440 if chance.random() < 0.012 else down
            load = min(1.0, max(0.0, (wind - 2.5) / 9.5) ** 2)
            energy = one[4] * 24 * load * (1440 - down) / 1440
            cut = round(energy * chance.uniform(0.05, 0.4), 1) if load > 0.55 and one[1] in {"KAP", "DUN"} else 0.0
            cut = cut if chance.random() < 0.5 else 0.0
            speed = None if chance.random() < 0.03 else round(wind, 1)
            gust = None if speed is None else round(wind * chance.uniform(1.3, 2.3), 1)
            rows.append((one[0], day, round(energy - cut, 1), speed, gust, down, cut, chance.random() < 0.03))
    columns = ["turbine_no", "prod_day", "energy_kwh", "wind_ms", "gust_ms", "downtime_min", "curtailed_kwh"]
    write("production", [*columns, "is_estimated"], rows)


def alarms(chance: random.Random) -> None:
    rows: list[tuple[Any, ...]] = []
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        cold = day.month in {1, 2, 12}
        for one in running(day):
            if chance.random() > (0.16 if one[2] == "Nordvind" else 0.08) or one[0] == "D-02":
                continue
            at = datetime(day.year, day.month, day.day) + timedelta(seconds=chance.randrange(86_400))
            for _ in range(chance.choices([1, 2, 3, 5], [60, 20, 14, 6])[0]):
                weights = [22, 10, 18, 24 if cold else 1, 20, 12, 4]
                fault = chance.choices(["PIT", "GBX", "GRD", "ICE", "COM", "YAW", None], weights)[0]
                level = chance.choices([1, 2, 3], [45, 38, 17])[0]
                minutes = round(chance.expovariate(1 / (60 * level)) + 2)
                closed = at + timedelta(minutes=minutes)
                is_open = (day > date(2026, 8, 1) and chance.random() < 0.3) or chance.random() < 0.01
                remote = level < 3 and chance.random() < 0.6
                rows.append((one[0], at, None if is_open else closed, fault, level, remote))
                at += timedelta(minutes=chance.choice([4, 9, 17, 26, 48, 130]), seconds=chance.randrange(60))
    rows.sort(key=lambda one: (one[1], one[0]))
    columns = ["alarm_no", "turbine_no", "raised_at", "cleared_at", "fault", "severity", "was_remote_reset"]
    write("alarms", columns, [(70001 + n, *one) for n, one in enumerate(rows)])


def visits(chance: random.Random) -> None:
    rows: list[tuple[Any, ...]] = []
    notes = ["bolts tightened", "crane needed", "waiting for a part", "oil changed", "blade 2 scratched"]
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        if day.weekday() >= 5 and chance.random() < 0.85:
            continue
        for _ in range(chance.choices([0, 1, 2, 3], [25, 40, 25, 10])[0]):
            one = chance.choices(running(day), [5 if t[2] == "Nordvind" else 3 for t in running(day)])[0]
            crew = [t for t in TECHNICIANS[:6] if t[5] is None or t[5] >= day]
            who = None if chance.random() < 0.1 else chance.choice(crew[:4])[0]
            who = 505 if who == 504 and day <= date(2026, 4, 30) and chance.random() < 0.5 else who
            purpose = chance.choices(["MNT", "REP", "INS", "UPG"], [38, 34, 22, 6])[0]
            parts = round(chance.uniform(40, 5200), 2) if purpose in {"REP", "UPG"} and chance.random() < 0.85 else None
            parts = round(chance.uniform(15, 240), 2) if purpose == "MNT" and chance.random() < 0.5 else parts
            at = datetime(day.year, day.month, day.day, chance.randrange(6, 17), chance.choice([0, 10, 20, 40, 50]))
            hours = chance.choice([0.5, 1, 1.5, 2, 3, 3.5, 5, 7.5])
            rows.append(
                (
                    one[0],
                    who,
                    at,
                    purpose,
                    hours,
                    parts,
                    chance.random() < 0.86,
                    chance.choice([*notes, None, None, None]),
                )
            )
    rows.sort(key=lambda one: (one[2], one[0]))
    columns = ["visit_no", "turbine_no", "tech_no", "visited_at", "purpose", "work_hours", "parts_eur", "is_finished"]
    write("visits", [*columns, "note"], [(1 + n, *one) for n, one in enumerate(rows)])


def main() -> None:
    chance = random.Random(5309)
    columns = ["site_code", "site_name", "region", "terrain", "opened_on", "grid_limit_kw", "manager"]
    write("sites", columns, SITES)
    columns = ["turbine_no", "site_code", "maker", "model", "rated_kw", "hub_height_m", "commissioned_on"]
    write("turbines", [*columns, "retired_on", "is_leased"], TURBINES)
    columns = ["tech_no", "tech_name", "home_base", "grade", "hired_on", "left_on", "climbing_cert_until"]
    write("technicians", columns, TECHNICIANS)
    production(chance)
    alarms(chance)
    visits(chance)


if __name__ == "__main__":
    main()
