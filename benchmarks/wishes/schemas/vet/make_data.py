"""Makes the data of the veterinary practice: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2025, 9, 1)
VILLAGES = ["Aldern", "Brook", "Castle Hill", "Dunmore", None]
FIRST = ["Anna", "Ben", "Carla", "David", "Erik", "Fiona", "Greta", "Hugo", "Ines", "Jonas"]
LAST = ["Albrecht", "Brand", "Castelli", "Doyle", "Engel", "Fuchs"]
PETS = ["Bella", "Rocky", "Luna", "Max", "Coco", "Felix", "Nala", "Oscar", "Ruby", "Simba", "Tilly"]
BREEDS = {
    "DOG": ["Beagle", "Poodle", "Boxer"],
    "CAT": ["Siamese", "Maine Coon"],
    "RAB": ["Lop"],
    "BRD": ["Canary"],
    "HRS": ["Haflinger", "Shetland"],
}
WEIGHTS = {"DOG": 18.0, "CAT": 4.2, "RAB": 1.9, "BRD": 0.3, "HRS": 420.0}
VETS = [
    (1, "Dr Mara Stein", "SUR", date(2012, 4, 1)),
    (2, "Dr Paul Rossi", "INT", date(2018, 9, 15)),
    (3, "Dr Lena Vogt", "DEN", date(2021, 1, 4)),
    (4, "Dr Amir Haddad", "EXO", date(2024, 6, 1)),
    (5, "Dr Nora Klee", "INT", date(2026, 6, 1)),  # no visits yet
]


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def text(flag: bool) -> str:
    return "true" if flag else "false"


def main() -> None:
    chance = random.Random(28)
    owners = [
        (
            n,
            f"{chance.choice(FIRST)} {chance.choice(LAST)}",
            chance.choice(VILLAGES),
            date(2014, 1, 1) + timedelta(days=chance.randrange(4400)),
            f"0{700000 + n * 37}" if chance.random() < 0.8 else None,
            text(chance.random() < 0.4),
        )
        for n in range(1, 41)
    ]
    animals: list[tuple[Any, ...]] = []
    for n in range(1, 71):
        kind = chance.choices(list(BREEDS), weights=[9, 8, 3, 2, 2])[0]
        born = date(2010, 1, 1) + timedelta(days=chance.randrange(5600))
        died = BEGIN + timedelta(days=chance.randrange(280)) if chance.random() < 0.12 else None
        animals.append(
            (
                n,
                chance.randint(1, 36),
                chance.choice(PETS),
                kind,
                chance.choice(BREEDS[kind]) if chance.random() < 0.7 else None,
                chance.choice("FM"),
                born,
                round(WEIGHTS[kind] * chance.uniform(0.6, 1.5), 2),
                text(chance.random() < 0.35),
                died,
            )
        )
    visits: list[tuple[Any, ...]] = []
    invoices: list[tuple[Any, ...]] = []
    for n in range(1, 521):
        animal = animals[min(int(chance.triangular(0, 64, 10)), 63)]
        at = datetime.combine(BEGIN, datetime.min.time()) + timedelta(
            days=chance.randrange(272), hours=chance.randint(8, 18), minutes=chance.randrange(60)
        )
        missed = chance.random() < 0.08
        visits.append(
            (
                n,
                animal[0],
                chance.choice([1, 2, 2, 3, 4]),
                at,
                None if missed else chance.randint(8, 95),
                chance.choice(["CHK", "CHK", "VAC", "INJ", "DEN", "SUR"]),
                chance.randint(1, 4),
                text(missed),
                None if missed or chance.random() < 0.3 else round(animal[7] * chance.uniform(0.95, 1.05), 2),
                text(chance.random() < 0.1),
            )
        )
        if not missed:
            issued = at.date() + timedelta(days=chance.randrange(6))
            paid = issued + timedelta(days=chance.randrange(75)) if chance.random() < 0.85 else None
            invoices.append(
                (
                    30000 + n,
                    n if chance.random() < 0.95 else None,
                    animal[1],
                    issued,
                    issued + timedelta(days=30),
                    paid,
                    round(chance.uniform(18, 640), 2),
                    chance.choice(["CSH", "CRD", "CRD", "TRF"]) if paid else None,
                )
            )
    shots = [
        (
            n,
            chance.choice(animals[:50])[0],
            chance.choice(["RAB", "DIS", "FLU", "TET"]),
            given := BEGIN - timedelta(days=200) + timedelta(days=chance.randrange(470)),
            given + timedelta(days=365) if chance.random() < 0.8 else None,
            round(chance.uniform(0.5, 2.0), 1),
            chance.choice([1, 2, 3, 4]),
        )
        for n in range(1, 161)
    ]
    write("owners", ["owner_id", "full_name", "village", "joined_on", "phone", "newsletter"], owners)
    write(
        "animals",
        [
            "animal_id",
            "owner_id",
            "animal_name",
            "species",
            "breed",
            "sex",
            "born_on",
            "weight_kg",
            "insured",
            "died_on",
        ],
        animals,
    )
    write("vets", ["vet_id", "vet_name", "field", "hired_on"], VETS)
    write(
        "visits",
        [
            "visit_id",
            "animal_id",
            "vet_id",
            "began_at",
            "minutes",
            "reason",
            "room",
            "no_show",
            "weight_kg",
            "is_emergency",
        ],
        visits,
    )
    write(
        "invoices",
        ["invoice_no", "visit_id", "owner_id", "issued_on", "due_on", "paid_on", "amount_eur", "pay_method"],
        invoices,
    )
    write(
        "vaccinations",
        ["vaccination_id", "animal_id", "vaccine", "given_on", "next_due_on", "dose_ml", "vet_id"],
        shots,
    )


if __name__ == "__main__":
    main()
