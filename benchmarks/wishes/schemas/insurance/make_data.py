"""Makes the data of the insurer: `python make_data.py` writes the same files again."""

import csv
import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
FIRST = datetime(2024, 7, 1)
LAST = datetime(2025, 11, 30)
QUIET = range(300, 312)  # days on which no claim was reported: the line was down
PRODUCTS = {"CAR": 62000, "HOM": 28000, "LIA": 9500, "TRV": 6400, "PET": 21000}
CAUSES = {
    "CAR": ["COL", "COL", "THF", "STM"],
    "HOM": ["WTR", "WTR", "FIR", "THF", "STM"],
    "LIA": ["OTH", "WTR"],
    "TRV": ["OTH", "THF"],
    "PET": ["OTH"],
}


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def staff() -> None:
    agents = [
        (1, "M. Keller", "Basel", date(2009, 3, 1), None, False),
        (2, "S. Rossi", "Lugano", date(2014, 8, 1), None, False),
        (3, "J. Favre", "Geneva", date(2017, 1, 1), date(2025, 3, 31), False),
        (4, "L. Meier", "Basel", date(2020, 6, 1), None, True),
        (5, "P. Dubois", "Geneva", date(2022, 2, 1), None, True),
        (6, "A. Huber", None, date(2023, 11, 1), None, True), (7, "N. Frei", "Lugano", date(2025, 10, 1), None, False),
    ]  # fmt: skip
    write("agents", ["agent_id", "agent_name", "office", "hired_on", "left_on", "is_independent"], agents)
    adjusters = [
        (11, "B. Wyss", "Motor", 12), (12, "C. Ferrari", "Motor", 3), (13, "D. Blanc", "Property", 21),
        (14, "E. Suter", "Property", None), (15, "F. Moser", "SPECIAL CASES", 8), (16, "G. Roth", None, 1),
    ]  # fmt: skip
    write("adjusters", ["adjuster_id", "adjuster_name", "team", "years_of_service"], adjusters)


def contracts(chance: random.Random) -> list[tuple[Any, ...]]:
    first = ["Alma", "Beat", "Carla", "Denis", "Edith", "Fabio", "Gina", "Hans", "Irene", "Jonas", "Karin", "Luca"]
    last = ["Amsler", "Brun", "Conti", "Dietrich", "Egger", "Fuchs", "Gerber", "Hofer", "Iseli", "Jost", "Kunz"]
    names = [f"{one} {other}" for one in first for other in last]
    chance.shuffle(names)
    customers = []
    for n in range(1, 111):
        segment = "C" if n % 5 == 0 else "P"
        name = (
            f"{names[n].split()[1]} {['AG', 'Sons', 'Logistics', 'Bakery'][n % 4]} {n}" if segment == "C" else names[n]
        )
        region = chance.choices(["North", "South", "Lake District", "ALPS", None], [34, 26, 22, 14, 4])[0]
        birth = None if segment == "C" or n % 17 == 0 else date(1940, 1, 1) + timedelta(days=chance.randrange(365 * 64))
        customers.append(
            (7000 + n, name, segment, region, birth, date(2010, 1, 4) + timedelta(days=chance.randrange(5500)))
        )
    write("customers", ["customer_no", "customer_name", "segment", "region", "birth_date", "customer_since"], customers)

    policies: list[tuple[Any, ...]] = []
    for n in range(1, 211):
        customer = customers[chance.randrange(98)]
        product = chance.choices(list(PRODUCTS), [38, 28, 18, 10, 6])[0]
        agent = None if n % 22 == 0 else chance.choices([1, 2, 3, 4, 5, 6], [28, 20, 18, 16, 12, 6])[0]
        start = max(customer[5], date(2016, 1, 1)) + timedelta(days=chance.randrange(0, 900))
        start = min(start, date(2025, 9, 1) - timedelta(days=n))
        while any(other[1] == customer[0] and other[4] == start for other in policies):
            start -= timedelta(days=30)
        status = chance.choices(["ACT", "LAP", "CAN"], [76, 14, 10])[0]
        end = None if status == "ACT" else start + timedelta(days=365 * chance.randrange(1, 4))
        premium = None if n % 53 == 0 else int(PRODUCTS[product] * chance.choice([0.7, 0.9, 1, 1, 1.2, 1.9]))
        excess = chance.choice([0, 20000, 20000, 50000, 100000])
        policies.append((f"P-{1000 + n}", customer[0], agent, product, start, end, premium, excess, status))
    columns = ["policy_no", "customer_no", "agent_id", "product", "start_on", "end_on", "annual_premium_cents"]
    write("policies", [*columns, "deductible_cents", "status"], policies)
    return policies


def damage(chance: random.Random, policies: list[tuple[Any, ...]]) -> None:
    days = (LAST - FIRST).days
    claims: list[tuple[Any, ...]] = []
    for _ in range(560):
        day = chance.randrange(days)
        if day in QUIET:
            continue
        reported = FIRST + timedelta(days=day, minutes=chance.randrange(7 * 60, 19 * 60))
        policy = policies[int(chance.random() ** 1.6 * 170)]
        occurred = (
            None if chance.random() < 0.03 else reported.date() - timedelta(days=min(int(chance.expovariate(0.2)), 90))
        )
        cause = chance.choice(CAUSES[policy[3]])
        claimed = (
            None if chance.random() < 0.03 else chance.choice([18000, 45000, 45000, 90000, 160000, 420000, 1250000])
        )
        status = chance.choices(["NEW", "REV", "PAID", "DEN"], [8, 14, 60, 18])[0]
        closed: datetime | None = reported + timedelta(days=chance.randrange(1, 75), minutes=chance.randrange(600))
        status = "REV" if status in {"PAID", "DEN"} and closed is not None and closed > LAST else status
        closed = closed if status in {"PAID", "DEN"} else None
        adjuster = None if status == "NEW" else chance.choices([11, 12, 13, 14, 15, 18], [28, 20, 22, 16, 12, 2])[0]
        number = "P-9999" if chance.random() < 0.01 else policy[0]
        claims.append((number, occurred, reported, cause, claimed, status, closed, adjuster))
    claims.sort(key=lambda one: (one[2], one[0]))
    claims = [(20000 + n, *one) for n, one in enumerate(claims)]
    columns = [
        "policy_no",
        "occurred_on",
        "reported_at",
        "cause",
        "claimed_cents",
        "status",
        "closed_at",
        "adjuster_id",
    ]
    write("claims", ["claim_no", *columns], claims)

    payouts = []
    for claim in claims:
        if claim[6] != "PAID" or claim[5] is None:
            continue
        for part in range(chance.choices([1, 2], [80, 20])[0]):
            paid = claim[7].date() + timedelta(days=chance.randrange(0, 21) + 30 * part)
            if paid > date(2025, 12, 19):
                continue
            recipients = ["CUS", "GAR", "THP"] if claim[4] == "COL" else ["CUS", "CUS", "THP"]
            payouts.append((claim[0], paid, int(claim[5] * chance.choice([0.3, 0.45, 0.5])), chance.choice(recipients)))
    payouts.sort(key=lambda one: (one[1], one[0]))
    write(
        "payouts",
        ["payout_id", "claim_no", "paid_on", "amount_cents", "recipient"],
        [(n + 1, *one) for n, one in enumerate(payouts)],
    )


def talks(chance: random.Random) -> None:
    contacts = []
    for _ in range(330):
        customer = None if chance.random() < 0.03 else 7001 + int(chance.random() ** 1.8 * 96)
        at = datetime(2025, 1, 6) + timedelta(minutes=chance.randrange(60 * 24 * 320))
        for _ in range(chance.choices([1, 2, 3], [60, 28, 12])[0]):
            channel = chance.choices(["TEL", "EML", "CHT", "LET"], [44, 30, 18, 8])[0]
            topic = chance.choices(["claim", "premium", "new policy", "cancellation", None], [40, 24, 18, 12, 6])[0]
            minutes = None if channel in {"EML", "LET"} else chance.choice([3, 5, 5, 8, 12, 20, 35])
            contacts.append((customer, at, channel, topic, minutes, chance.random() < 0.14))
            at += timedelta(minutes=chance.randrange(30, 60 * 24 * 5))
    contacts.sort(key=lambda one: (one[1], one[0] or 0))
    columns = ["customer_no", "contacted_at", "channel", "topic", "duration_minutes", "is_complaint"]
    write("contacts", ["contact_id", *columns], [(n + 1, *one) for n, one in enumerate(contacts)])


def main() -> None:
    chance = random.Random(37)
    staff()
    policies = contracts(chance)
    damage(chance, policies)
    talks(chance)


if __name__ == "__main__":
    main()
