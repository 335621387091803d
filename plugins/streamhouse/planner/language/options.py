"""What a wish says of its result rather than of its rows: freshness, layer, name, alert, sessions."""

import re
from datetime import timedelta

from streamhouse.model.types import Layer
from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.numbers import read_quantity
from streamhouse.planner.language.tokens import Token
from streamhouse.planner.language.units import unit_of
from streamhouse.planner.language.words import GRAINS

FRESH = (
    "fresh within", "fresh to within", "with a freshness of", "freshness of", "freshness", "at most", "no more than",
    "not more than", "no older than", "not older than", "never older than", "updated every", "refreshed every",
    "refresh every", "update every", "updated at least every", "up to date within", "with a delay of at most",
    "with at most", "delayed by at most", "every", "current to within", "up to date to within", "with a latency of",
    "with a lag of at most", "lagging at most", "fresh to", "fresh every", "refreshed within", "available within",
    "within", "fresh", "older than", "not later than", "no later than", "visible within", "with a latency under",
    "refresh it every", "refresh this every", "refresh that every", "refresh them every", "update it every",
    "update this every", "update that every", "update them every", "refreshed at least every", "renewed every",
    "with a lag of", "lag at most", "behind at most", "recomputed every", "delivered within", "delivered every",
)  # fmt: skip
AFTER_FRESH = ("old", "late", "behind", "of delay", "delay", "at the latest", "lag", "behind the source", "of lag",
               "stale", "after the source", "fresh", "latency", "of latency")  # fmt: skip
_CERTAIN = frozenset(
    one
    for one in FRESH
    if re.search(r"fresh|updat|refresh|delay|lag|latency|recomput|delivered|visible|available|up to date", one)
)
_LAYERS = {"ods": Layer.ODS, "dwd": Layer.DWD, "dws": Layer.DWS, "ads": Layer.ADS}
ALERTS = ("alert me when", "alert me if", "alert me about", "alert when", "alert if", "alert on", "alert about",
           "warn me when", "warn me if", "warn when", "warn if", "warn me about", "warn about", "notify me when",
           "notify me if", "notify me about", "notify when", "notify us when", "tell me when", "tell me if",
           "tell us when", "flag any", "flag all",
           "flag every", "flag", "alert us when", "alert us if", "warn us when", "warn us if", "raise an alert when",
           "raise an alert if", "raise an alarm when", "raise an alarm if", "an alert when", "an alert if",
           "an alert for", "alert for", "alarm when", "alarm if", "let me know when", "let us know when",
           "let me know if", "send an alert when",
           "send an alert if", "alerts for", "alerts on", "alerts when", "an alert on", "alert me on", "alert me for",
           "ping me when", "ping me if", "notify us if", "tell us if", "let us know if", "watch for", "watch out for",
           "alert")  # fmt: skip


def read_options(tokens: tuple[Token, ...], draft: Draft) -> tuple[Token, ...]:
    """Write what is said of the result into a draft; the tokens that are left, in order."""
    for rule in (_freshness, _layer, _name, _alert, _sessions, _base):
        tokens = rule(tokens, draft)
    return tokens


def _base(tokens: tuple[Token, ...], draft: Draft) -> tuple[Token, ...]:
    """Read "from ods.orders", where one table is named so. At the end it stays: it may be all that names the rows."""
    places = [at for at in range(1, len(tokens)) if tokens[at - 1].word == "from" and tokens[at].kind == "name"]
    if len(places) != 1:
        return tokens
    [at] = places
    draft.base = tokens[at].word
    is_within = any(token.kind != "symbol" for token in tokens[at + 1 :])
    return tokens[: at - 1] + tokens[at + 1 :] if is_within else tokens


def _at(tokens: tuple[Token, ...], at: int, phrase: str) -> int:
    if at >= len(tokens) or not phrase.startswith(tokens[at].word):
        return 0
    parts = phrase.split()
    found = all(at + n < len(tokens) and tokens[at + n].word == part for n, part in enumerate(parts))
    return len(parts) if found else 0


def _cut(tokens: tuple[Token, ...], start: int, end: int) -> tuple[Token, ...]:
    while start > 0 and tokens[start - 1].word in {",", ";", "and", "with"}:
        start -= 1
    return tokens[:start] + tokens[end:]


_BEFORE_FRESH = frozenset(
    "data results result that is are be kept keep it must should rows table the a never always please".split()
)


def _freshness(tokens: tuple[Token, ...], draft: Draft) -> tuple[Token, ...]:
    for at in range(len(tokens)):
        for phrase in sorted(FRESH, key=len, reverse=True):
            length = _at(tokens, at, phrase)
            found = _duration(tokens, at + length) if length else None
            if not found:
                continue
            duration, end = found
            after = next(
                (n for words in sorted(AFTER_FRESH, key=len, reverse=True) if (n := _at(tokens, end, words))), 0
            )
            if not after and (phrase not in _CERTAIN):
                continue
            if phrase in {"older than", "at most", "within"} and not after:
                continue
            start = at
            while start > 0 and tokens[start - 1].word in _BEFORE_FRESH:
                start -= 1
            draft.freshness = duration
            return _cut(tokens, start, end + after)
    return tokens


def _duration(tokens: tuple[Token, ...], at: int) -> tuple[timedelta, int] | None:
    if at < len(tokens) and tokens[at].word in {"a", "an", "the"} and at + 1 < len(tokens):
        unit = unit_of(tokens[at + 1].word)
        if unit and unit.measures == "time":
            return timedelta(seconds=float(unit.scale)), at + 2
    if at < len(tokens):
        single = unit_of(tokens[at].word) if tokens[at].kind == "word" and len(tokens[at].word) > 3 else None
        if single and single.measures == "time" and not tokens[at].word.endswith("s"):
            return timedelta(seconds=float(single.scale)), at + 1
    quantity = read_quantity(tokens, at)
    if quantity and quantity.unit and quantity.unit.measures == "time" and quantity.value > 0:
        return timedelta(seconds=float(quantity.value * quantity.unit.scale)), at + quantity.length
    return None


_BEFORE_NAME = frozenset("save store write it result the saved stored put results written table this that".split())
_BEFORE_LAYER = frozenset("in into to the for put it result store save".split())


def _layer(tokens: tuple[Token, ...], draft: Draft) -> tuple[Token, ...]:
    for at, token in enumerate(tokens):
        before = tokens[at - 1].word if at else ""
        is_name = token.kind == "name" and token.word.count(".") == 1
        if is_name and before in {"as", "into", "called", "named", "to", "in"}:
            layer, _, name = token.word.partition(".")
            draft.layer, draft.name = _LAYERS[layer], name
            start = at - 1
            while start > 0 and tokens[start - 1].word in _BEFORE_NAME:
                start -= 1
            return _cut(tokens, start, at + 1)
        if token.word in _LAYERS and before in {"in", "into", "to", "the", "for"}:
            start = at - 1
            while start > 0 and tokens[start - 1].word in _BEFORE_LAYER:
                start -= 1
            draft.layer = _LAYERS[token.word]
            return _cut(tokens, start, at + 1 + _at(tokens, at + 1, "layer"))
    return tokens


def _name(tokens: tuple[Token, ...], draft: Draft) -> tuple[Token, ...]:
    for at in range(len(tokens)):
        for phrase in ("and call it", "call it", "call the result", "call the table", "name it", "name the result",
                       "name the table", "under the name", "as a table called", "as table", "in a table called",
                       "in a table named", "as a table named", "the result is called", "result named", "table named",
                       "table called"):  # fmt: skip
            length = _at(tokens, at, phrase)
            if not length or at + length >= len(tokens):
                continue
            words, end = _identifier(tokens, at + length)
            if words:
                draft.name = words
                return _cut(tokens, at, end)
    return _called(tokens, draft)


def _called(tokens: tuple[Token, ...], draft: Draft) -> tuple[Token, ...]:
    """Read the name behind "…, called daily_sales" and "… per day called daily_sales", at the end.

    Behind any other word it may name a row: "customers called Anna".
    """
    for at in range(1, len(tokens) - 1):
        before = tokens[at - 1].word
        if tokens[at].word not in {"called", "named", "titled"} or not (
            before in {",", ";", "and"} or before in GRAINS
        ):
            continue
        words, end = _identifier(tokens, at + 1)
        if words and (end == len(tokens) or tokens[end].word in {",", ";", "."}):
            draft.name = words
            return _cut(tokens, at, end)
    return tokens


def _identifier(tokens: tuple[Token, ...], at: int) -> tuple[str, int]:
    first = tokens[at]
    if first.kind == "quoted":
        return re.sub(r"[^a-z0-9]+", "_", first.word.lower()).strip("_"), at + 1
    end = at
    parts = []
    while end < len(tokens) and tokens[end].kind == "word" and tokens[end].text.isascii():
        gap = tokens[end].start - tokens[end - 1].end if end > at else 0
        if end > at and gap > 1:
            break
        if end > at and tokens[end - 1].end == tokens[end].start - 1 and _blank_between(tokens, end):
            break
        parts.append(tokens[end].word)
        end += 1
    name = "_".join(parts)
    return (name if re.fullmatch(r"[a-z][a-z0-9_]*", name) else ""), end


def _blank_between(tokens: tuple[Token, ...], at: int) -> bool:
    return not tokens[at].joined


def _alert(tokens: tuple[Token, ...], draft: Draft) -> tuple[Token, ...]:
    for at in range(min(len(tokens), 8)):
        for phrase in sorted(ALERTS, key=len, reverse=True):
            length = _at(tokens, at, phrase)
            if length:
                draft.alert = True
                return tokens[:at] + tokens[at + length :]
    return tokens


_GAPS = (
    "with a gap of", "with gaps of", "gap of", "separated by", "with a timeout of", "after", "with a break of",
    "timeout of", "with an inactivity of", "split after", "with", "that end after", "ending after", "cut at",
    "cut after",
)  # fmt: skip
_BEHIND_GAPS = ("of inactivity", "inactivity", "gap", "gaps", "without activity", "of silence", "timeout", "pause",
                "without an event", "of no activity")  # fmt: skip


def _sessions(tokens: tuple[Token, ...], draft: Draft) -> tuple[Token, ...]:
    for at, token in enumerate(tokens):
        if token.word not in {"session", "sessions", "visits"}:
            continue
        for start in range(at + 1, len(tokens)):
            for phrase in _GAPS:
                length = _at(tokens, start, phrase)
                found = _duration(tokens, start + length) if length else None
                if found:
                    draft.sessions = found[0]
                    end = found[1]
                    for words in _BEHIND_GAPS:
                        end += _at(tokens, end, words)
                    begin = at
                    while begin > 0 and tokens[begin - 1].word in {"number", "of", "how", "many", "count"}:
                        begin -= 1
                    return _cut(tokens, start, end)[:begin] + _cut(tokens, start, end)[at + 1 :]
    return tokens
