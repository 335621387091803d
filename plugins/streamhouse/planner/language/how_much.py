"""As in "how much did we raise": the sum of money that a verb names, or of the rows that it names."""

from dataclasses import replace

from streamhouse.planner.catalog import CatalogTable
from streamhouse.planner.language.levels import NAME_OR_DEED
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.named_sums import sums_of_money
from streamhouse.planner.language.tokens import Token, stem, stems

_AUXILIARIES = frozenset({"was", "were", "is", "are", "did", "do", "does", "has", "have", "had"})
_DENIED = frozenset({"not", "never", "no", "without", "nobody", "average", "most", "least"})
_PAYING = frozenset(map(stem, (
    "donate", "give", "pay", "spend", "invoice", "bill", "charge", "claim", "refund", "contribute", "deposit",
    "withdraw", "earn", "sell", "reimburse",
)))  # fmt: skip
_GAINING = frozenset(map(stem, ("sell", "earn", "spend", "pay", "charge", "bill", "invoice")))
_DEDUCTED = frozenset(map(stem, (
    "discount", "voucher", "rebate", "refund", "tip", "deposit", "coupon", "reduction", "bonus", "loss", "damage",
)))  # fmt: skip
_SPENDING = frozenset(map(stem, ("spend", "pay")))
_PRONOUNS = frozenset({"we", "you", "they", "i"})  # what stands behind one is a verb
_SHORT = 3  # letters that a verb has at least


def with_sums(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with the measure that "how much … verb" asks for, where there is only one."""
    words = [token.word for token in tokens]
    at = next((at for at in range(len(words)) if words[at : at + 2] == ["how", "much"]), None)
    if at is None:
        return _with_the_most(tokens, lexicon)
    if _DENIED & set(words):
        return tokens
    behind = at + 2 + (words[at + 2 : at + 3] == ["money"])
    if words[behind : behind + 1] and words[behind] in _AUXILIARIES:
        for verb in range(behind + 1, len(tokens)):
            name = _sum_named(tokens, verb, lexicon)
            if name:
                said = " ".join(token.text for token in (*tokens[at:behind], tokens[verb]))
                put = replace(tokens[at], text=said, word=name, stem=name, kind="name")
                return (*tokens[:at], put, *tokens[behind:verb], *tokens[verb + 1 :])
    return tokens


def _with_the_most(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """Read "which campaign raised the most money" as the one with the highest sum of that name."""
    words = [token.word for token in tokens]
    for at in range(2, len(tokens) - 1):
        end = at + 3 + (words[at + 3 : at + 4] == ["money"])
        most = words[at + 1 : at + 3] in (["the", "most"], ["the", "least"]) and words[0] in {"which", "the"}
        if not most or not all(token.kind == "symbol" for token in tokens[end:]):
            continue
        tables = lexicon.catalog.tables.values()
        names = [f"{t.name}.{n}" for t in tables for n in sums_of_money(t) if tokens[at].stem in _words(t, n)]
        if len(names) == 1 and lexicon.mention(tokens, at, 1) is None:
            said = ("with", "the", "highest" if words[at + 2] == "most" else "lowest")
            put = [replace(tokens[at], text=one, word=one, stem=stem(one)) for one in said]
            return (*tokens[:at], *put, replace(tokens[at], word=names[0], stem=names[0], kind="name"), *tokens[end:])
    return tokens


def _sum_named(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> str:
    """The full name of the sum that a verb names; empty: none, or several."""
    token = tokens[at]
    if token.kind != "word" or len(token.word) < _SHORT or not token.word.isalpha() or token.word != token.text:
        return ""
    found = lexicon.mention(tokens, at, 1)
    senses = found.senses if found is not None else ()
    exact = 2.0 if tokens[at - 1].word in _PRONOUNS else NAME_OR_DEED
    if any(s.kind in {"value", "table", "measure"} and s.quality >= exact for s in senses):
        return ""
    tables = lexicon.catalog.tables
    named = {f"{t.name}.{name}" for t in tables.values() for name in sums_of_money(t) if token.stem in _words(t, name)}
    if not named and token.stem in _PAYING:
        rows = {s.table for s in senses if s.kind == "table" or s.column == tables[s.table].event_time}
        sums = [(table, one) for table in map(tables.get, sorted(rows)) if table for one in sums_of_money(table)]
        named = {f"{table.name}.{one}" for table, one in sums}
        if token.stem in _GAINING and any(_words(table, one) & _DEDUCTED for table, one in sums):
            return ""  # what is sold is no discount, though that is the only sum of the rows
    if not named and token.stem in _SPENDING:
        named = _spent_on(tokens, at, lexicon)
    return named.pop() if len(named) == 1 else ""


def _spent_on(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> set[str]:
    """The sums of the rows that stand behind "spend on"."""
    on = at + 1 < len(tokens) and tokens[at + 1].word in {"on", "for"}
    thing = lexicon.mention(tokens, at + 2, 1) if on else None
    rows = thing.tables(NAME_OR_DEED) if thing is not None else set()
    return {f"{name}.{one}" for name in rows for one in sums_of_money(lexicon.catalog.tables[name])}


def _words(table: CatalogTable, name: str) -> set[str]:
    """Stems of a measure's names: of "money raised" both."""
    return {part for text in (name, *table.measures[name].synonyms) for part in stems(text)} - {stem("money")}
