"""Makes the data of the factory: `python make_data.py` writes the same files again."""

import csv
import json
import math
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = datetime(2025, 9, 1)
DAYS = 28


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def main() -> None:  # noqa: PLR0915 - one list of rows after the other
    chance = random.Random(41)
    kinds = ["PRESS", "LATHE", "OVEN", "PACKER", "WELDER"]
    makers = ["Hartmann", "Nordtec", "Kobe Works", None]
    machines = []
    for n in range(1, 16):
        line = ["Line A", "Line B", "Line C"][n % 3]
        installed = date(2012, 2, 1) + timedelta(days=chance.randrange(4500))
        machines.append(
            (f"M{n:02}", f"{kinds[n % 5].title()} {n}", line, kinds[n % 5], chance.choice(makers), installed)
        )
    write("machines", ["machine_id", "machine_name", "line", "kind", "maker", "installed_on"], machines)

    limits = {"TMP": (20.0, 85.0), "VIB": (0.0, 7.1), "PRS": (1.0, 6.0)}
    sensors: list[tuple[Any, ...]] = []
    for machine in machines[:14]:
        for quantity in chance.sample(sorted(limits), chance.choice([1, 2, 2])):
            low, high = limits[quantity]
            sensors.append((len(sensors) + 1, machine[0], quantity, low, high, chance.random() < 0.9))
    write("sensors", ["sensor_id", "machine_id", "quantity", "low_limit", "high_limit", "is_active"], sensors)

    with (HERE / "readings.jsonl").open("w", encoding="utf-8") as file:
        for hour in range(0, 24 * DAYS, 6):
            for sensor in sensors:
                if chance.random() < 0.04 or hour // 24 == 13:
                    continue  # gaps; a whole day without readings
                at = BEGIN + timedelta(hours=hour, minutes=chance.choice([0, 0, 0, 7, 30]))
                low, high = sensor[3], sensor[4]
                value = low + (high - low) * (0.55 + 0.2 * math.sin(hour / 9 + sensor[0]) + chance.gauss(0, 0.14))
                row = {"sensor_id": sensor[0], "read_at": at.isoformat(" "), "value": round(value, 2)}
                quality = chance.choices([0, 1, 2], [93, 5, 2])[0]
                if quality == 2:
                    row["value"] = None
                file.write(json.dumps(row | {"quality": quality}) + "\n")

    shifts = [("E", "Early", "Marta Vogel", 6), ("L", "Late", "Sven Olsen", 14), ("N", "Night", None, 22)]
    write("shifts", ["shift_code", "shift_name", "team_lead", "begins_hour"], shifts)

    orders, defects = [], []
    products = ["Bracket 40", "Bracket 60", "Hinge L", "Hinge R", "Cover Plate", "Valve Body"]
    for _ in range(420):
        day = chance.randrange(DAYS)
        if day in {6, 13, 20}:
            continue
        shift, _, _, hour = chance.choices(shifts, [5, 4, 2])[0]
        begun = BEGIN + timedelta(days=day, hours=hour, minutes=chance.randrange(0, 240, 5))
        number = chance.choice(machines[:13])[0]
        planned = chance.choice([50, 100, 100, 200, 400])
        state = chance.choices(["DONE", "RUN", "STOP", "WAIT"], [84, 4, 6, 6])[0]
        ended = begun + timedelta(minutes=chance.randrange(25, 420)) if state in {"DONE", "STOP"} else None
        made = (
            None
            if state == "WAIT"
            else planned
            if state == "DONE" and chance.random() < 0.6
            else chance.randrange(planned)
        )
        scrapped = None if made is None else min(made, int(chance.expovariate(1 / (2 + planned / 60))))
        orders.append((begun, number, chance.choice(products), shift, planned, made, scrapped, ended, state))
    orders.sort(key=lambda one: (one[0], one[1]))
    numbered = [(f"WO-{1000 + n}", o[1], o[2], o[3], o[4], o[5], o[6], o[0], o[7], o[8]) for n, o in enumerate(orders)]
    columns = [
        "machine_id",
        "product",
        "shift_code",
        "planned_units",
        "made_units",
        "scrapped_units",
        "begun_at",
        "done_at",
    ]
    write("work_orders", ["order_no", *columns, "state"], numbered)

    for order in numbered:
        for _ in range(chance.choices([0, 1, 2, 3], [55, 28, 12, 5])[0] if order[6] else 0):
            found = order[7] + timedelta(minutes=chance.randrange(5, 600))
            kind = chance.choice(["SCR", "DIM", "DIM", "CRK", "COL"])
            defects.append(
                (found, order[0], kind, chance.randrange(1, 9), None if chance.random() < 0.2 else chance.choice("ABC"))
            )
    defects.sort(key=lambda one: (one[0], one[1]))
    write(
        "defects",
        ["defect_id", "found_at", "order_no", "kind", "pieces", "grade"],
        [(n + 1, *d) for n, d in enumerate(defects)],
    )

    jobs = []
    for n in range(1, 91):
        began = BEGIN - timedelta(days=30) + timedelta(days=chance.randrange(58), hours=chance.randrange(6, 20))
        ended = None if chance.random() < 0.08 else began + timedelta(minutes=chance.choice([30, 45, 60, 90, 240, 600]))
        planned = chance.random() < 0.6
        cost = None if ended is None else chance.choice([8000, 12000, 12000, 25000, 71000])
        technician = chance.choice(["Ali Demir", "Petra Kohl", "Rosa Lima", None])
        jobs.append((n, chance.choice(machines[:12])[0], planned, began, ended, cost, technician))
    columns = ["job_id", "machine_id", "is_planned", "began_at", "ended_at", "cost_cents", "technician"]
    write("maintenance", columns, jobs)


if __name__ == "__main__":
    main()
