"""Makes the data of the app: `python make_data.py` writes the same files again."""

import csv
import json
import random
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "data"
BEGIN = datetime(2026, 2, 2)
DAYS = 21


def write(name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def main() -> None:
    chance = random.Random(99)
    pages = [
        (1, "/", "Home", "Landing"), (2, "/pricing", "Pricing", "Landing"), (3, "/blog/launch", "We launched", "Blog"),
        (4, "/blog/tips", "Ten tips", "Blog"), (5, "/docs/start", "Getting started", "Docs"),
        (6, "/docs/api", "API", "Docs"),
        (7, "/shop", "Shop", "Shop"), (8, "/shop/cart", "Cart", "Shop"), (9, "/shop/checkout", "Checkout", "Shop"),
        (10, "/legal", "Imprint", None), (11, "/beta", "Beta Lab", "Landing"),
    ]  # fmt: skip
    write("pages", ["page_id", "path", "title", "section"], pages)

    users = []
    for n in range(1, 151):
        signup = BEGIN - timedelta(days=60) + timedelta(minutes=chance.randrange(80 * 24 * 60))
        country = chance.choices(["US", "DE", "FR", "BR", "JP", None], [40, 20, 12, 12, 10, 6])[0]
        plan = chance.choices(["free", "pro", "team"], [70, 22, 8])[0]
        source = chance.choice(["Google Ads", "newsletter", "organic", "partner", "Social Media"])
        users.append((n, signup, country, plan, source, n % 37 == 0))
    write("users", ["user_id", "signup_at", "country", "plan", "source", "is_staff"], users)

    events = []
    for _ in range(620):
        day = chance.randrange(DAYS)
        if day == 9:
            continue  # the collector was down
        at = BEGIN + timedelta(days=day, seconds=chance.randrange(86400))
        user = None if chance.random() < 0.1 else min(int(chance.paretovariate(0.55)), 140)
        platform = chance.choices(["web", "ios", "android"], [55, 25, 20])[0]
        version = None if platform == "web" else chance.choice(["3.1", "3.2", "4.0"])
        for _ in range(chance.randrange(1, 7)):
            kind = chance.choices(["pv", "clk", "cart", "buy", "err"], [55, 25, 9, 6, 5])[0]
            page = chance.choice([7, 8, 9]) if kind in {"cart", "buy"} else chance.choice(pages[:10])[0]
            load = None if kind != "pv" or chance.random() < 0.05 else int(chance.lognormvariate(6.2, 0.8))
            value = chance.choice([999, 1900, 1900, 4900, 12000]) if kind == "buy" else None
            events.append((at, user, page, kind, platform, version, load, value))
            at += timedelta(seconds=chance.choice([3, 20, 45, 90, 300, 2400]))
    events.sort(key=lambda one: (one[0], one[1] or 0))
    with (HERE / "events.jsonl").open("w", encoding="utf-8") as file:
        for n, (at, user, page, kind, platform, version, load, value) in enumerate(events):
            row = {"event_id": n + 1, "user_id": user, "page_id": page, "type": kind, "ts": at.isoformat(" "),
                   "platform": platform, "app_version": version, "load_ms": load, "value_cents": value}  # fmt: skip
            file.write(json.dumps({key: one for key, one in row.items() if one is not None}) + "\n")

    tickets = []
    for n in range(1, 96):
        opened = BEGIN + timedelta(minutes=chance.randrange(DAYS * 24 * 60))
        solved = None if chance.random() < 0.2 else opened + timedelta(minutes=chance.randrange(5, 6000))
        score = None if solved is None or chance.random() < 0.4 else chance.randrange(1, 6)
        topic = chance.choice(["billing", "login", "bug", "how to"])
        tickets.append((n, chance.randrange(1, 121), opened, solved, topic, chance.choice([1, 2, 2, 3]), score))
    write("tickets", ["ticket_id", "user_id", "opened_at", "solved_at", "topic", "priority", "score"], tickets)


if __name__ == "__main__":
    main()
