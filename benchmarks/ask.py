"""CPU seconds of one ask over a catalog of many tables, one action each; the first ask also builds the index.

python benchmarks/ask.py --actions 1000
"""

import argparse
import time

from streamhouse.planner.catalog import Catalog, CatalogColumn, CatalogTable, ForeignKey
from streamhouse.planner.understand import understand

_TRADES = ("order", "visit", "parcel", "ticket", "sensor", "invoice", "claim", "route", "loan", "permit")
_WISHES = (
    "number of {thing} events per city in March 2025",
    "average amount of {thing} events per month for open status",
    "top 5 cities by number of {thing} events, without the cancelled ones",
)


def catalog(actions: int) -> Catalog:
    """So many tables, in pairs: things with a city, and events that point to them."""
    tables: dict[str, CatalogTable] = {}
    keys: list[ForeignKey] = []
    for number in range((actions + 1) // 2):
        thing = f"{_TRADES[number % len(_TRADES)]}{'abcdefghij'[number // 10 % 10]}{'klmnopqrst'[number // 100 % 10]}"
        owner, events = f"ods.{thing}_points", f"dwd.{thing}_events"
        key = f"{thing}_point_id"
        columns = (CatalogColumn(key, "bigint"), CatalogColumn("city", "string", values={"Oslo": (), "Rome": ()}))
        tables[owner] = CatalogTable(owner, "flow", f"take_{thing}", columns, (key,), description=f"Points of {thing}.")
        tables[events] = CatalogTable(
            events, "flow", f"clean_{thing}",
            (
                CatalogColumn("event_id", "bigint"),
                CatalogColumn(key, "bigint", references=(owner, key)),
                CatalogColumn("happened_at", "timestamp", description="when it happened"),
                CatalogColumn("amount_cents", "bigint", unit="cents", synonyms=("amount",)),
                CatalogColumn("status", "string", values={"O": ("open",), "X": ("cancelled",), "D": ("done",)}),
            ),
            ("event_id",), "happened_at", description=f"What happened with each {thing}.",
        )  # fmt: skip
        keys.append(ForeignKey(events, (key,), owner, (key,), declared=True))
    return Catalog(tables, tuple(keys))


def main() -> None:
    """Print CPU seconds of the first ask, and of asks over an index that is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--actions", type=int, default=1000)
    given = parser.parse_args()
    known = catalog(given.actions)
    spent, read = [], 0
    for wish in (text.format(thing=f"{trade}ak") for trade in _TRADES for text in _WISHES):
        begin = time.process_time()
        read += understand(wish, known).request is not None
        spent.append(time.process_time() - begin)
    first, rest = spent[0], sorted(spent[1:])
    print(f"{len(known.tables)} actions: first ask {first:.2f} s CPU, with its index")
    median, most = rest[len(rest) // 2] * 1000, rest[-1] * 1000
    print(f"later asks: median {median:.0f} ms CPU, most {most:.0f} ms, {read} of {len(spent)} read")


if __name__ == "__main__":
    main()
