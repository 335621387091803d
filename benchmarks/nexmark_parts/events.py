"""Nexmark events: an auction site as three streams, the same bytes for the same seed.

Of every 50 events one is a person, three are auctions and 46 are bids. Ids rise with the event's number.
Half of the bids go to a hot auction and three quarters come from a hot bidder, which are among the newest
hundred of their kind; the rest spread over the auctions in flight and the active people, and some name an id
that is not there yet. Event times are unique: one for each event's number, `1 / rate` apart. Events arrive
in another order within groups, so a stream is out of order by at most the time of a group.

    python benchmarks/nexmark_parts/events.py 100000 examples/nexmark/data
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

STREAMS = ("person", "auction", "bid")
SIDE_INPUT_ROWS = 10_000
_EPOCH = 50  # events: 1 person, 3 auctions, 46 bids
_AUCTIONS = 3
_FIRST_ID = 1000
_FIRST_CATEGORY, _CATEGORIES = 10, 5
_HOT_BATCH = 100  # the hot one is the first (of bidders: second) of each hundred
_ACTIVE_PEOPLE, _IN_FLIGHT_AUCTIONS, _LEAD = 1000, 100, 10
_HOT_CHANNELS = ("Google", "Facebook", "Baidu", "Apple")
_CHANNELS = 10_000
_PLACES = (
    *(("Tucson", "AZ"), ("Fresno", "CA"), ("Oakland", "CA"), ("Nampa", "ID"), ("Boise", "ID")),
    *(("Salem", "OR"), ("Eugene", "OR"), ("Tacoma", "WA"), ("Spokane", "WA"), ("Casper", "WY")),
)
_FIRST_NAMES = ("Ada", "Alan", "Barbara", "Donald", "Edsger", "Frances", "Grace", "John", "Leslie", "Margaret", "Tony")
_LAST_NAMES = ("Allen", "Backus", "Dijkstra", "Hamilton", "Hoare", "Hopper", "Knuth", "Lamport", "Liskov", "Turing")
_POOL = 1024  # strings of each kind; rows draw from them
_BASE_US = 1_436_918_400_000_000  # 2015-07-15 00:00:00 UTC
_LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz ", np.uint8)

Events = dict[str, pa.Table]


@dataclass(frozen=True)
class Load:
    """What to generate.

    Attributes:
        events: Of all three streams together.
        seed: Equal loads of one seed give equal rows.
        rate: Events in a second of event time, at most 1,000,000.
        disorder: Events in a group within which they arrive in another order; 1: in order.
    """

    events: int
    seed: int = 1
    rate: int = 1000
    disorder: int = 200


def generate(load: Load, first: int, count: int) -> Events:
    """The events that arrive at places `[first, first + count)`, in the order of arrival; `first` is a whole group."""
    if first % load.disorder:
        raise ValueError(f"first = {first} is within a group of {load.disorder}")
    random = np.random.default_rng([load.seed, first])
    arrival = np.arange(first, min(first + count, load.events), dtype=np.int64)
    number = _disordered(arrival, load.disorder)
    offset = arrival % _EPOCH
    kinds = {"person": offset < 1, "auction": (offset >= 1) & (offset <= _AUCTIONS), "bid": offset > _AUCTIONS}
    make = {"person": _people, "auction": _auctions, "bid": _bids}
    texts = _texts(load.seed)
    return {
        name: make[name](arrival[kind], _time_us(number[kind], load), random, texts, load)
        for name, kind in kinds.items()
    }


def side_input() -> pa.Table:
    """The bounded table of q13."""
    key = np.arange(SIDE_INPUT_ROWS, dtype=np.int64)
    value = pc.binary_join_element_wise("value", pc.cast(pa.array(key), pa.string()), "-")
    return pa.table({"key": key, "value": value})


def write(load: Load, folder: Path, *, parts: int = 10) -> Iterator[int]:
    """Write `folder/{person,auction,bid}/NNN.parquet` part by part, and `folder/side_input/000.parquet` first.

    Yields:
        How many events there are so far, after each part. A file appears only when it is whole.
    """
    _put(side_input(), folder / "side_input" / "000.parquet")
    groups = -(-load.events // load.disorder)
    size = -(-groups // parts) * load.disorder
    for part, first in enumerate(range(0, load.events, size)):
        for name, rows in generate(load, first, size).items():
            if rows.num_rows:
                _put(rows, folder / name / f"{part:03}.parquet")
        yield min(first + size, load.events)


def _put(rows: pa.Table, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f".{file.name}")
    pq.write_table(rows, unfinished)
    unfinished.rename(file)


class _Texts:
    """Pools of strings, the same for every part of a load."""

    def __init__(self, random: np.random.Generator) -> None:
        self.item = _pool(random, 5, 20)
        self.description = _pool(random, 30, 80)
        self.person_extra, self.auction_extra, self.bid_extra = (
            _pool(random, *r) for r in ((90, 150), (300, 440), (10, 35))
        )
        self.street = _pool(random, 5, 5)
        hot = [(name, self._url(random, "")) for name in _HOT_CHANNELS]
        # A tenth of the other channels carries no id in its address.
        ids = random.integers(0, 1 << 31, _CHANNELS)
        told = random.integers(0, 10, _CHANNELS) > 0
        rest = [
            (f"channel-{i}", self._url(random, f"&channel_id={ids[i]}" if told[i] else "")) for i in range(_CHANNELS)
        ]
        self.channel, self.url = (pa.array(column) for column in zip(*hot, *rest, strict=True))

    def _url(self, random: np.random.Generator, tail: str) -> str:
        parts = "/".join(self.street[int(i)].as_py().replace(" ", "_") for i in random.integers(0, _POOL, 3))
        return f"https://www.nexmark.com/{parts}/item.htm?query=1{tail}"


@cache
def _texts(seed: int) -> _Texts:
    return _Texts(np.random.default_rng(seed))


def _pool(random: np.random.Generator, shortest: int, longest: int) -> pa.Array:
    lengths = random.integers(shortest, longest + 1, _POOL)
    return pa.array([_LETTERS[random.integers(0, len(_LETTERS), n)].tobytes().decode() for n in lengths])


def _people(number: Any, time_us: Any, random: np.random.Generator, texts: _Texts, _: Load) -> pa.Table:
    n = len(number)
    first, last = _draw(random, pa.array(_FIRST_NAMES), n), _draw(random, pa.array(_LAST_NAMES), n)
    place = random.integers(0, len(_PLACES), n)
    street = texts.street.take(pa.array(random.integers(0, _POOL, n)))
    cards = [pc.utf8_lpad(pc.cast(pa.array(random.integers(0, 10_000, n)), pa.string()), 4, "0") for _ in range(4)]
    return pa.table(
        {
            "id": _last_person(number) + _FIRST_ID,
            "name": pc.binary_join_element_wise(first, last, " "),
            "emailAddress": pc.binary_join_element_wise(street, "@", pc.utf8_lower(last), ".com", ""),
            "creditCard": pc.binary_join_element_wise(*cards, " "),
            "city": pa.array([city for city, _ in _PLACES]).take(pa.array(place)),
            "state": pa.array([state for _, state in _PLACES]).take(pa.array(place)),
            "dateTime": _timestamps(time_us),
            "extra": _draw(random, texts.person_extra, n),
        }
    )


def _auctions(number: Any, time_us: Any, random: np.random.Generator, texts: _Texts, load: Load) -> pa.Table:
    n = len(number)
    initial = _prices(random, n)
    horizon_us = _IN_FLIGHT_AUCTIONS * _EPOCH // _AUCTIONS * 1_000_000 // load.rate
    person = _last_person(number)
    hot = random.integers(0, 4, n) > 0
    return pa.table(
        {
            "id": _last_auction(number) + _FIRST_ID,
            "itemName": _draw(random, texts.item, n),
            "description": _draw(random, texts.description, n),
            "initialBid": initial,
            "reserve": initial + _prices(random, n),
            "dateTime": _timestamps(time_us),
            "expires": _timestamps(time_us + 1 + random.integers(0, 2 * horizon_us, n)),
            "seller": np.where(hot, person // _HOT_BATCH * _HOT_BATCH, _some_person(random, person)) + _FIRST_ID,
            "category": random.integers(0, _CATEGORIES, n) + _FIRST_CATEGORY,
            "extra": _draw(random, texts.auction_extra, n),
        }
    )


def _bids(number: Any, time_us: Any, random: np.random.Generator, texts: _Texts, _: Load) -> pa.Table:
    n = len(number)
    auction, person = _last_auction(number), _last_person(number)
    oldest = np.maximum(auction - _IN_FLIGHT_AUCTIONS, 0)
    some_auction = oldest + random.integers(0, auction - oldest + 1 + _LEAD)
    hot_auction, hot_bidder = random.integers(0, 2, n) > 0, random.integers(0, 4, n) > 0
    hot_channel = random.integers(0, 2, n) > 0
    hot, rest = len(_HOT_CHANNELS), random.integers(0, _CHANNELS, n)
    channel = pa.array(np.where(hot_channel, rest % hot, rest + hot))
    return pa.table(
        {
            "auction": np.where(hot_auction, auction // _HOT_BATCH * _HOT_BATCH, some_auction) + _FIRST_ID,
            "bidder": np.where(hot_bidder, person // _HOT_BATCH * _HOT_BATCH + 1, _some_person(random, person))
            + _FIRST_ID,
            "price": _prices(random, n),
            "channel": texts.channel.take(channel),
            "url": texts.url.take(channel),
            "dateTime": _timestamps(time_us),
            "extra": _draw(random, texts.bid_extra, n),
        }
    )


def _disordered(arrival: Any, group: int) -> Any:
    """A one-to-one map of places of arrival to numbers, within each group."""
    step = next(s for s in range(group * 3 // 8 + 1, 2 * group + 2) if np.gcd(s, group) == 1)
    return arrival // group * group + arrival % group * step % group


def _time_us(number: Any, load: Load) -> Any:
    return _BASE_US + number * 1_000_000 // load.rate


def _last_person(number: Any) -> Any:
    """The newest person, counted from 0, when an event happens; of a person itself."""
    return number // _EPOCH


def _last_auction(number: Any) -> Any:
    """The newest auction, counted from 0, when an event happens; of an auction itself."""
    return number // _EPOCH * _AUCTIONS + np.minimum(number % _EPOCH, _AUCTIONS) - 1


def _some_person(random: np.random.Generator, newest: Any) -> Any:
    active = np.minimum(newest + 1, _ACTIVE_PEOPLE)
    return newest + 1 - active + random.integers(0, active + _LEAD)


def _prices(random: np.random.Generator, n: int) -> Any:
    """Cents, 100 to 100,000,000, as many in each power of ten."""
    return np.round(np.power(10.0, random.random(n) * 6) * 100).astype(np.int64)


def _draw(random: np.random.Generator, pool: pa.Array, n: int) -> pa.Array:
    return pool.take(pa.array(random.integers(0, len(pool), n)))


def _timestamps(time_us: Any) -> pa.Array:
    return pa.array(time_us, pa.timestamp("us", "UTC"))


if __name__ == "__main__":
    for done in write(Load(int(sys.argv[1])), Path(sys.argv[2])):
        print(f"{done:,} events")
