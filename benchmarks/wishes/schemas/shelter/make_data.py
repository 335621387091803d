"""Makes the data of the animal shelter: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2025, 10, 1)
DAYS = 365
BREEDS: dict[str, list[str | None]] = {
    "DOG": ["Labrador", "German Shepherd", "Beagle", "Podenco", None, None],
    "CAT": ["European Shorthair", "Maine Coon", "Persian", None],
    "RAB": ["Dwarf Lop", "LIONHEAD", None],
    "BIR": [None, "Cockatiel"],
    "GUI": ["Abyssinian", None],
}
WEIGHTS = {"DOG": (6, 42), "CAT": (2.2, 6.5), "RAB": (0.9, 3.1), "BIR": (0.03, 0.4), "GUI": (0.6, 1.3)}
FEES = {"DOG": [180, 250, 320], "CAT": [90, 120], "RAB": [35], "BIR": [15, 20], "GUI": [25]}
NAMES = ["Luna", "Balu", "Mia", "Rocky", "Nala", "Socks", "Pepper", "Bruno", "Lilly", "Momo", "Kira", "Tiger", "Ella"]
PENS = [
    ("D1", "D", 2, True, date(2026, 9, 7)),
    ("D2", "D", 2, False, date(2026, 9, 7)),
    ("D3", "D", 3, True, date(2026, 8, 24)),
    ("D4", "D", 1, False, None),
    ("C1", "C", 6, True, date(2026, 9, 14)),
    ("C2", "C", 8, True, date(2026, 7, 30)),
    ("S1", "S", 10, True, date(2026, 9, 1)),
    ("S2", "S", 5, False, None),
    ("Q1", "D", 2, True, date(2026, 9, 21)),  # no animal has lived here
]
VOLUNTEERS = [
    (71, "Agnes Holm", date(2019, 5, 4), None, True),
    (72, "Bela Kovacs", date(2021, 3, 1), None, True),
    (73, "Carla Nunes", date(2022, 10, 10), None, False),
    (74, "Dov Stern", date(2023, 1, 16), date(2026, 5, 31), True),
    (75, "Edith Maurer", date(2024, 4, 2), None, False),
    (76, "Finn Larsson", date(2025, 9, 20), None, False),
    (77, "Gul Demir", date(2026, 2, 14), None, True),
    (78, "Hugo Blanc", date(2026, 9, 28), None, False),  # has not walked yet
    (79, "Ines Prado", date(2020, 8, 8), date(2024, 12, 31), True),
]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def moment(chance: random.Random, day: date, first: int, last: int) -> datetime:
    return datetime(day.year, day.month, day.day, chance.randrange(first, last), chance.randrange(60))


def animals(chance: random.Random) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        for _ in range(chance.choices([0, 1, 2, 3], [38, 38, 18, 6 if day.month in {7, 8} else 2])[0]):
            species = chance.choices(list(BREEDS), [34, 40, 12, 8, 6])[0]
            origin = chance.choices(["FND", "SUR", "SEI", "BRN"], [42, 40, 10, 8])[0]
            born = None if chance.random() < 0.15 else day - timedelta(days=chance.randrange(40, 4200))
            born = day if origin == "BRN" else born
            low, high = WEIGHTS[species]
            weight = None if chance.random() < 0.06 else round(chance.uniform(low, high), 2)
            weight = round(weight / 12, 2) if weight and origin == "BRN" else weight
            wing = {"DOG": "D", "CAT": "C"}.get(species, "S")
            pen = chance.choice([one[0] for one in PENS if one[1] == wing and one[0] != "Q1"])
            chipped = species in {"DOG", "CAT"} and chance.random() < 0.6
            chip = f"2760{chance.randrange(10**9, 10**10)}" if chipped else None
            rows.append(
                (
                    chance.choice(NAMES),
                    species,
                    chance.choice(BREEDS[species]),
                    chance.choices(["M", "F", None], [46, 46, 8])[0],
                    born,
                    weight,
                    moment(chance, day, 8, 19),
                    origin,
                    pen if chance.random() < 0.96 else None,
                    "",
                    chance.random() < 0.55,
                    chip,
                )
            )
    rows.sort(key=lambda one: one[6])
    return [(1001 + n, *row) for n, row in enumerate(rows)]


def homes(chance: random.Random, all_animals: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The adopters and the adoptions; gives the animals with their status."""
    people: list[tuple[Any, ...]] = []
    for n in range(150):
        first = chance.choice(["Otto", "Pia", "Rita", "Sven", "Tara", "Udo"])
        name = f"{first} {chance.choice(['Berg', 'Falk', 'Kern'])} {n}"
        town = chance.choices(["Lindau", "Moosbach", "NEUSTADT", "Old Mill", None], [44, 25, 18, 9, 4])[0]
        since = date(2025, 9, 1) + timedelta(days=chance.randrange(385))
        people.append((300 + n, name, town, chance.random() < 0.47, chance.choice([1, 2, 2, 3, 4, 5]), since))
    columns = ["adopter_id", "adopter_name", "town", "has_garden", "household_size", "registered_on"]
    write("adopters", columns, people)
    contracts: list[tuple[Any, ...]] = []
    end = BEGIN + timedelta(days=DAYS - 1)
    done: list[tuple[Any, ...]] = []
    for animal in all_animals:
        at, species = animal[7].date(), animal[2]
        status = "H"
        for _ in range(2):
            wait = {"DOG": 46, "CAT": 30}.get(species, 18)
            at += timedelta(days=2 + int(chance.expovariate(1 / wait)))
            if at > end or chance.random() < 0.15:
                status = chance.choices(["H", "R", "F", "D"], [50, 18, 22, 10])[0]
                break
            known = [one for one in people[:138] if one[5] <= at]
            who = None if chance.random() < 0.03 or not known else known[int(len(known) * chance.random() ** 1.7)][0]
            back = at + timedelta(days=chance.randrange(3, 60)) if chance.random() < 0.11 else None
            back = None if back and back > end else back
            why = chance.choices(["ALL", "TIM", "BIT", "MOV", None], [30, 30, 15, 15, 10])[0] if back else None
            contracts.append((animal[0], who, at, chance.choice(FEES[species]), back, why))
            status = "A"
            if not back:
                break
            status, at = "H", back
        done.append((*animal[:10], status, *animal[11:]))
    contracts.sort(key=lambda one: (one[2], one[0]))
    columns = ["adoption_no", "animal_id", "adopter_id", "adopted_on", "fee_eur", "returned_on", "return_reason"]
    write("adoptions", columns, [(9001 + n, *one) for n, one in enumerate(contracts)])
    return done


def care(chance: random.Random, all_animals: list[tuple[Any, ...]]) -> None:
    vets = ["Dr. Ahrens", "Dr. Bianchi", "Dr. Chen"]
    usual = {"VAC": 4200, "SUR": 31000, "DEN": 12500, "WRM": 1800, "CHK": 3500}
    rows: list[tuple[Any, ...]] = []
    for animal in all_animals:
        for n in range(chance.choices([0, 1, 2, 3, 5], [12, 34, 28, 18, 8])[0]):
            kind = chance.choices(list(usual), [30, 14, 8, 22, 26])[0]
            day = animal[7].date() + timedelta(days=chance.randrange(0, 70))
            if day >= BEGIN + timedelta(days=DAYS):
                continue
            cost = None if chance.random() < 0.05 else round(usual[kind] * chance.uniform(0.7, 1.6) / 10) * 10
            vet = chance.choices([*vets, None], [45, 30, 18, 7])[0]
            rows.append((animal[0], vet, kind, moment(chance, day, 8, 18), cost, n > 0 and chance.random() < 0.4))
    rows.sort(key=lambda one: (one[3], one[0]))
    columns = ["treatment_no", "animal_id", "vet", "kind", "treated_at", "cost_cents", "is_follow_up"]
    write("treatments", columns, [(40001 + n, *one) for n, one in enumerate(rows)])
    dogs = [animal for animal in all_animals if animal[2] == "DOG"]
    walks: list[tuple[Any, ...]] = []
    for n in range(DAYS):
        day = BEGIN + timedelta(days=n)
        near = [dog for dog in dogs if dog[7].date() <= day <= dog[7].date() + timedelta(days=75)]
        busy = 4 if day.weekday() >= 5 else 2
        for _ in range(chance.randrange(0, busy + 1) if near else 0):
            helpers = [one for one in VOLUNTEERS[:7] if one[2] <= day and (one[3] is None or one[3] >= day)]
            who = None if chance.random() < 0.12 else helpers[int(len(helpers) * chance.random() ** 1.4)][0]
            minutes = chance.choice([20, 25, 30, 30, 45, 60, 75, 90, 120])
            far = None if chance.random() < 0.1 else round(minutes / 60 * chance.uniform(2.8, 5.2), 1)
            sky = chance.choices(["SUN", "RAI", "SNO" if day.month in {12, 1, 2} else "CLO", "CLO"], [40, 20, 15, 25])[
                0
            ]
            walks.append((chance.choice(near)[0], who, moment(chance, day, 8, 19), minutes, far, sky))
    walks.sort(key=lambda one: (one[2], one[0]))
    columns = ["walk_no", "animal_id", "volunteer_id", "set_off_at", "minutes", "distance_km", "weather"]
    write("walks", columns, [(1 + n, *one) for n, one in enumerate(walks)])


def main() -> None:
    chance = random.Random(4127)
    write("pens", ["pen_code", "wing", "places", "is_heated", "last_cleaned_on"], PENS)
    write("volunteers", ["volunteer_id", "volunteer_name", "started_on", "stopped_on", "has_licence"], VOLUNTEERS)
    found = homes(chance, animals(chance))
    columns = ["animal_id", "animal_name", "species", "breed", "sex", "born_on", "weight_kg", "came_in_at", "origin"]
    write("animals", [*columns, "pen_code", "status", "is_neutered", "chip_no"], found)
    care(chance, found)


if __name__ == "__main__":
    main()
