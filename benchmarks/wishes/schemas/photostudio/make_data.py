"""Writes the data of the photo studio, always the same."""

import csv
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random

HERE = Path(__file__).parent
FIRST = date(2024, 5, 1)
DAYS = 850
NAMES = ("Anna", "Boris", "Clara", "David", "Emma", "Felix", "Greta", "Hugo", "Ines", "Jan")
SURNAMES = ("Albers", "Bach", "Conrad", "Dorn", "Ernst", "Fuchs", "Graf", "Horn", "Imhof", "Jung", "Krug")
OCCASIONS = {"WED": (300, 1400.0), "FAM": (75, 180.0), "PAS": (15, 25.0), "PRD": (120, 420.0), "NEW": (90, 240.0)}
PRODUCTS = {
    "PRT": (("10x15", 0.9), ("20x30", 4.5)),
    "CNV": (("40x60", 59.0), ("60x90", 89.0)),
    "BOK": (("A4", 49.0), ("A5", 29.0)),
    "MUG": (("one", 14.5),),
}
STAFF = (
    ("Mara Stein", "WED"),
    ("Nils Otto", "PRD"),
    ("Olga Pohl", "NEW"),
    ("Paul Reh", None),
    ("Rita Senf", "FAM"),
    ("Tom Uhl", "WED"),
    ("Vera Wolf", None),
)


def write(name: str, columns: str, rows: list[list[object]]) -> None:
    """One file of the data, empty where a value is None."""
    with (HERE / "data" / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns.split())
        writer.writerows([_text(value) for value in row] for row in rows)


def _text(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value


def customers(chance: Random) -> list[list[object]]:
    """A hundred and twenty customers."""
    rows: list[list[object]] = []
    for number in range(1, 121):
        channel = chance.choice(("WEB", "WEB", "REC", "WLK", "SOC", None))
        name = f"{NAMES[number % 10]} {SURNAMES[number % 11]}"
        seen = FIRST + timedelta(days=chance.randrange(-300, 600))
        city = chance.choice(("Marburg", "Giessen", "Wetzlar", "Kassel"))
        rows.append(
            [number, name, city, chance.choices(("PRI", "BUS"), (80, 20))[0], channel, chance.random() < 0.45, seen]
        )
    return rows


def photographers(chance: Random) -> list[list[object]]:
    """Seven people, the last of whom has no shooting yet."""
    best = {"WED": "weddings", "PRD": "products", "NEW": "newborns", "FAM": "families"}
    return [
        [
            number,
            name,
            best.get(skill or ""),
            chance.random() < 0.5,
            FIRST + timedelta(days=chance.randrange(-2000, 300)),
            float(chance.randrange(18, 45) * 10),
        ]
        for number, (name, skill) in enumerate(STAFF, start=1)
    ]


def shootings(chance: Random) -> list[list[object]]:
    """Six hundred shootings of the first hundred customers."""
    rows: list[list[object]] = []
    for number in range(1, 601):
        shot = datetime.combine(FIRST, datetime.min.time()) + timedelta(
            days=number * DAYS // 601, minutes=chance.randrange(540, 1140, 15)
        )
        occasion = chance.choice(sorted(OCCASIONS))
        length, fee = OCCASIONS[occasion]
        cancelled = chance.random() < 0.08
        taken = 0 if cancelled else chance.randrange(4, 20) * max(1, length // 30)
        chosen = None if cancelled or chance.random() < 0.15 else chance.randrange(1, taken)
        photographer = None if chance.random() < 0.03 else chance.randrange(1, 7)
        booked = shot.date() - timedelta(days=chance.randrange(0, 90))
        place = "STU" if occasion == "PAS" else chance.choice(("STU", "OUT", "HOM"))
        minutes = length + chance.choice((0, 0, 15, 30))
        price = round(fee * chance.uniform(0.85, 1.25), 2)
        rows.append(
            [
                number,
                chance.randrange(1, 101),
                photographer,
                booked,
                shot,
                occasion,
                place,
                minutes,
                taken,
                chosen,
                price,
                cancelled,
            ]
        )
    return rows


def orders(chance: Random, shot: list[list[object]]) -> list[list[object]]:
    """Four hundred orders, most of them after a shooting."""
    rows: list[list[object]] = []
    for number, shooting in enumerate(sorted(chance.sample(shot, 400)), start=1):
        ordered = shooting[4] + timedelta(days=chance.randrange(1, 25), minutes=chance.randrange(600))  # type: ignore[operator]
        ready = ordered + timedelta(hours=chance.randrange(5, 240)) if chance.random() < 0.93 else None
        over = ready + timedelta(hours=chance.randrange(2, 300)) if ready and chance.random() < 0.9 else None
        source = shooting[0] if chance.random() < 0.85 else None
        rows.append(
            [
                number,
                shooting[1],
                source,
                ordered,
                ready,
                over,
                chance.choice(("PCK", "PCK", "PST")),
                chance.random() < 0.2,
            ]
        )
    return rows


def items(chance: Random) -> list[list[object]]:
    """One to four items of each order, none of the last five."""
    rows: list[list[object]] = []
    for order in range(1, 396):
        for product in sorted(chance.sample(sorted(PRODUCTS), chance.randrange(1, 5))):
            size, price = chance.choice(PRODUCTS[product])
            copies = chance.randrange(1, 60) if product == "PRT" else chance.randrange(1, 5)
            rows.append([len(rows) + 1, order, product, size, copies, price])
    return rows


def vouchers(chance: Random, shot: list[list[object]]) -> list[list[object]]:
    """A hundred and sixty vouchers."""
    rows: list[list[object]] = []
    for number in range(1, 161):
        sold = FIRST + timedelta(days=number * 700 // 161)
        used = chance.choice(shot) if chance.random() < 0.55 else None
        redeemed = sold + timedelta(days=chance.randrange(3, 360)) if used else None
        code = f"GV{chance.randrange(10, 99)}{number:03}"
        value = chance.choice((25.0, 50.0, 80.0, 100.0, 150.0))
        rows.append(
            [code, chance.randrange(1, 121), sold, value, sold + timedelta(days=365), redeemed, used and used[0]]
        )
    return rows


def main() -> None:
    """All files."""
    chance = Random(13)
    write("customers", "customer_no customer_name city kind found_us_by newsletter first_seen_on", customers(chance))
    write(
        "photographers",
        "photographer_no photographer_name speciality freelance joined_on day_rate_eur",
        photographers(chance),
    )
    all_shootings = shootings(chance)
    columns = (
        "shooting_no customer_no photographer_no booked_on shot_at occasion place minutes "
        "pictures_taken pictures_chosen fee_eur cancelled"
    )
    write("shootings", columns, all_shootings)
    held = [shooting for shooting in all_shootings if not shooting[11]]
    write(
        "print_orders",
        "order_no customer_no shooting_no ordered_at ready_at handed_over_at delivery express",
        orders(chance, held),
    )
    write("print_items", "item_no order_no product size copies price_eur", items(chance))
    write(
        "vouchers",
        "voucher_code customer_no sold_on value_eur expires_on redeemed_on shooting_no",
        vouchers(chance, held),
    )


if __name__ == "__main__":
    main()
