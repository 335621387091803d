"""Makes the data of the clinic: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = date(2025, 1, 6)
DAYS = 90
DRUGS = [
    ("Amoxicillin", 500),
    ("Ibuprofen", 400),
    ("Metformin", 850),
    ("Lisinopril", 10),
    ("Salbutamol", 100),
    ("Vitamin D", 20),
]
ILLNESSES = [
    ("J06.9", "Common cold"), ("I10", "High blood pressure"), ("E11.9", "Type 2 diabetes"), ("M54.5", "Low back pain"),
    ("J45.9", "Asthma"), ("S93.4", "Sprained ankle"), ("L20.9", "Atopic dermatitis"), ("R51", "Headache"),
]  # fmt: skip


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def main() -> None:  # noqa: PLR0915 - one list of rows after the other
    chance = random.Random(23)
    departments = [
        ("GEN", "General Medicine", 1, 12), ("CAR", "Cardiology", 2, 8), ("PED", "Pediatrics", 1, 10),
        ("ORT", "Orthopedics", 3, 6), ("DER", "Dermatology", 3, None), ("RAD", "Radiology", 0, 4),
    ]  # fmt: skip
    write("departments", ["dept_code", "dept_name", "floor", "rooms"], departments)

    last = ["Adler", "Brandt", "Conti", "Duval", "Evans", "Ferrer", "Galli", "Haas", "Ivanova", "Jansen", "Keller",
            "Lund", "Moreau", "Novak", "Okafor", "Price"]  # fmt: skip
    doctors = []
    for n, name in enumerate(last):
        dept = None if n == 15 else departments[n % 5][0]
        grade = chance.choice(["JUN", "SEN", "SEN", "CON"])
        doctors.append((n + 1, f"Dr. {name}", dept, grade, date(2005, 3, 1) + timedelta(days=chance.randrange(7000))))
    write("doctors", ["doctor_id", "doctor_name", "dept_code", "grade", "hired_on"], doctors)

    first = [
        "Alma",
        "Ben",
        "Carl",
        "Dina",
        "Emma",
        "Finn",
        "Greta",
        "Hugo",
        "Ida",
        "Jan",
        "Lena",
        "Max",
        "Nora",
        "Otto",
    ]
    patients = []
    for n in range(1, 181):
        birth = None if n % 45 == 0 else date(1935, 1, 1) + timedelta(days=chance.randrange(32500))
        insurer = chance.choices(["BlueSky", "MediCare Plus", "Unity Health", None], [40, 30, 20, 10])[0]
        city = chance.choice(["Riverton", "Oak Park", "SALEM", "Mill Valley"])
        registered = datetime(2022, 1, 3, 8) + timedelta(days=chance.randrange(1090), minutes=15 * chance.randrange(36))
        name = f"{chance.choice(first)} {chance.choice(last)}"
        patients.append((n, name, birth, chance.choices("FMX", [50, 47, 3])[0], city, insurer, registered))
    columns = ["patient_id", "patient_name", "birth_date", "sex", "city", "insurer", "registered_at"]
    write("patients", columns, patients)

    appointments = []
    for day in range(DAYS):
        today = BEGIN + timedelta(days=day)
        if today.weekday() == 6 or day in {30, 31}:
            continue  # closed on Sundays and on two days off
        for _ in range(chance.randrange(8, 22) if today.weekday() < 5 else 4):
            starts = datetime(today.year, today.month, today.day, 8) + timedelta(minutes=15 * chance.randrange(38))
            booked = starts - timedelta(days=chance.randrange(0, 40), minutes=chance.randrange(30, 600))
            status = chance.choices(["D", "N", "C", "B"], [76, 9, 12, 3 if day < 80 else 40])[0]
            minutes = chance.choice([10, 15, 15, 20, 30, 45]) if status == "D" else None
            wait = None if status != "D" or chance.random() < 0.05 else max(0, int(chance.gauss(18, 12)))
            channel = chance.choice(["web", "phone", "phone", "desk"])
            patient = min(int(chance.paretovariate(0.5)), 165)
            appointments.append(
                (starts, patient, chance.choice(doctors[:15])[0], booked, status, minutes, wait, channel)
            )
    appointments.sort(key=lambda one: one[0])
    ordered = [(7000 + n, a[1], a[2], a[3], a[0], *a[4:]) for n, a in enumerate(appointments)]
    columns = ["patient_id", "doctor_id", "booked_at", "starts_at", "status", "minutes", "wait_minutes", "channel"]
    write("appointments", ["appointment_id", *columns], ordered)

    diagnoses: list[tuple[Any, ...]] = []
    prescriptions: list[tuple[Any, ...]] = []
    invoices: list[tuple[Any, ...]] = []
    for one in ordered:
        number, starts, status = one[0], one[4], one[5]
        if status == "D":
            for code, label in chance.sample(ILLNESSES, chance.choices([0, 1, 2], [15, 70, 15])[0]):
                diagnoses.append(
                    (len(diagnoses) + 1, number, code, label, chance.choices([1, 2, 3, None], [50, 33, 14, 3])[0])
                )
            for drug, dose in chance.sample(DRUGS, chance.choices([0, 1, 2, 3], [45, 40, 10, 5])[0]):
                days = chance.choice([5, 7, 10, 30, 90])
                prescriptions.append(
                    (len(prescriptions) + 1, number, drug, dose, days, days * chance.choice([40, 65, 120]))
                )
        if status == "D" or (status == "N" and chance.random() < 0.6):
            amount = 2500 if status == "N" else chance.choice([6000, 7500, 7500, 9900, 14000, 32000])
            issued = starts.date() + timedelta(days=chance.randrange(0, 8))
            paid = None if chance.random() < 0.18 else issued + timedelta(days=chance.randrange(0, 60))
            invoices.append((len(invoices) + 1, number, amount, issued, paid, chance.choices("IPE", [60, 32, 8])[0]))
    write("diagnoses", ["diagnosis_id", "appointment_id", "icd_code", "label", "severity"], diagnoses)
    columns = ["prescription_id", "appointment_id", "drug", "dose_mg", "days", "price_cents"]
    write("prescriptions", columns, prescriptions)
    columns = ["invoice_id", "appointment_id", "amount_cents", "issued_on", "paid_on", "payer"]
    write("invoices", columns, invoices)


if __name__ == "__main__":
    main()
