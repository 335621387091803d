"""Makes the data of the bike hire: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = datetime(2025, 5, 1)
DAYS = 62
SHUT = {date(2025, 5, 19), date(2025, 6, 2), date(2025, 6, 3)}  # no hire on these days


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def main() -> None:  # noqa: PLR0915 - one list of rows after the other
    chance = random.Random(7)
    names = [
        ("S01", "Central Station", "Centre", 40),
        ("S02", "Town Hall", "Centre", 24),
        ("S03", "Harbour East", "Harbour", 18),
        ("S04", "Harbour West", "Harbour", 18),
        ("S05", "University Gate", "North Hill", 30),
        ("S06", "Botanic Garden", "North Hill", 12),
        ("S07", "Old Mill", "River Side", 16),
        ("S08", "Stadium", "River Side", 36),
        ("S09", "Market Square", "Centre", 20),
        ("S10", "Airport Link", None, 10),
        ("S11", "Lake View", "Lake", 14),
        ("S12", "Depot South", "Lake", 8),
    ]
    stations = [
        (code, name, district, docks, date(2022, 3, 1) + timedelta(days=61 * n), n != 10)
        for n, (code, name, district, docks) in enumerate(names)
    ]
    write("stations", ["station_id", "name", "district", "docks", "opened_on", "has_pump"], stations)

    models = [("Volt 2", "E"), ("Volt 3", "E"), ("City Classic", "C"), ("City Light", "C"), ("Cargo Max", "T")]
    bikes = []
    for n in range(1, 71):
        model, kind = chance.choice(models)
        bought = date(2021, 1, 5) + timedelta(days=chance.randrange(1500))
        status = chance.choices("AWRS", [80, 10, 7, 3])[0]
        home = None if n % 17 == 0 else chance.choice(names)[0]
        bikes.append((n + 1000, model, kind, bought, status, home))
    write("bikes", ["bike_id", "model", "kind", "bought_on", "status", "home_station"], bikes)

    first = ["Ana", "Bo", "Cem", "Dora", "Eli", "Fay", "Gus", "Hana", "Ivo", "Jo", "Kim", "Leo", "Mia", "Ned", "Ola"]
    last = ["Berg", "Costa", "Dahl", "Engel", "Fox", "Gray", "Holm", "Ito", "Jung", "Klein"]
    riders = []
    for n in range(1, 121):
        name = f"{chance.choice(first)} {chance.choice(last)}"
        membership = chance.choices(["DAY", "MON", "YEAR", "STU", None], [20, 35, 25, 15, 5])[0]
        joined = BEGIN - timedelta(days=chance.randrange(900), hours=chance.randrange(24))
        born = None if chance.random() < 0.1 else chance.randrange(1950, 2009)
        city = chance.choice(["Aldermoor", "Westbrook", "New Haven", "Port Ellis"])
        riders.append((n, name, membership, joined, born, city))
    write("riders", ["rider_id", "name", "membership", "joined_at", "birth_year", "city"], riders)

    trips = []
    weights = [9, 6, 4, 4, 7, 2, 3, 5, 6, 2, 2, 0]
    for day in range(DAYS):
        morning = BEGIN + timedelta(days=day)
        if morning.date() in SHUT:
            continue
        for _ in range(chance.randrange(18, 46)):
            hour = chance.choices(range(24), [1, 0, 0, 0, 0, 1, 4, 9, 9, 5, 4, 4, 5, 5, 4, 5, 8, 10, 8, 5, 4, 3, 2, 1])[
                0
            ]
            begin = morning + timedelta(hours=hour, minutes=chance.randrange(60), seconds=chance.randrange(60))
            seconds = int(chance.lognormvariate(6.9, 0.7))
            start, end = chance.choices(names, weights, k=2)
            lost = chance.random() < 0.015
            distance = None if lost or chance.random() < 0.02 else round(seconds * chance.uniform(2.2, 4.6))
            fare = 0 if chance.random() < 0.2 else 100 + 15 * (seconds // 60)
            rider = None if chance.random() < 0.12 else min(int(chance.paretovariate(0.6)), 115)
            trips.append(
                (
                    begin,
                    chance.choice(bikes)[0],
                    rider,
                    start[0],
                    None if lost else end[0],
                    None if lost else begin + timedelta(seconds=seconds),
                    distance,
                    fare,
                )
            )
    trips.sort(key=lambda trip: trip[0])
    columns = [
        "bike_id",
        "rider_id",
        "start_station",
        "end_station",
        "started_at",
        "ended_at",
        "distance_m",
        "fare_cents",
    ]
    ordered = [(50000 + n, t[1], t[2], t[3], t[4], t[0], t[5], t[6], t[7]) for n, t in enumerate(trips)]
    write("trips", ["trip_id", *columns], ordered)

    repairs = []
    parts = ["brake", "chain", "tyre", "battery", "light", "saddle"]
    for n in range(1, 141):
        opened = BEGIN + timedelta(days=chance.randrange(DAYS), hours=chance.randrange(7, 18))
        closed = None if chance.random() < 0.1 else opened + timedelta(hours=chance.randrange(1, 90))
        cost = None if closed is None else chance.choice([900, 1500, 2500, 2500, 4900, 12900])
        repairs.append((n, chance.choice(bikes[:60])[0], opened, closed, chance.choice(parts), cost))
    write("repairs", ["repair_id", "bike_id", "opened_at", "closed_at", "part", "cost_cents"], repairs)

    weather = []
    for day in range(DAYS):
        if day in {11, 40}:
            continue  # the instrument was down
        rain = 0.0 if chance.random() < 0.6 else round(chance.expovariate(0.2), 1)
        sky = "rain" if rain > 1 else chance.choice(["clear", "clear", "cloudy"])
        temperature = round(13 + day / 8 + chance.gauss(0, 3), 1)
        weather.append((BEGIN.date() + timedelta(days=day), temperature, rain, round(chance.uniform(0, 40), 1), sky))
    write("weather", ["day", "temperature", "rain_mm", "wind_kmh", "sky"], weather)


if __name__ == "__main__":
    main()
