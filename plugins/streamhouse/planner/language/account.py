"""The account of a reading: every name of the catalog that a wish says is one part of its Request.

It looks at the wish and at the Request alone, and knows nothing of the rules between them.
"""

from itertools import pairwise

from streamhouse.planner.language.draft import Draft, Is, Noun
from streamhouse.planner.language.empty_columns import may_be_empty
from streamhouse.planner.language.levels import LAST_WORD, NEAR
from streamhouse.planner.language.lexicon import Lexicon, Mention, Sense
from streamhouse.planner.language.mentions import mentions_of
from streamhouse.planner.language.place import is_participle
from streamhouse.planner.language.plain_folds import folds_same
from streamhouse.planner.language.scope import TIMES
from streamhouse.planner.language.shape import Shaped
from streamhouse.planner.language.tokens import stem
from streamhouse.planner.language.used import Used, used_by
from streamhouse.planner.language.words import LIGHT_STEMS, VERB_FORMS

_BEHIND_VERBS = ((), ("on",), ("at",), ("in",), ("by",))  # "worked on" may be spelled as the time `worked_on` is


def unaccounted(draft: Draft, found: Shaped) -> str:
    """The first name of a wish that no part of its reading stands for; empty: each has one."""
    used = used_by(found.block, found.bench.places.scope.lexicon)
    for mention in sorted({*mentions_of(draft), *draft.orders}, key=lambda one: one.start):
        least = mention.best - NEAR
        likely = [sense for sense in mention.senses if sense.quality >= least]
        if any(stands_for(sense, used) for sense in likely) or _only_happened(mention, likely, used):
            continue
        if any(folds_same(sense, found.block, used.lexicon.catalog) for sense in likely):
            continue
        if _did_it(mention, likely, draft, found) or _only_sorts(mention, likely, draft, found):
            continue
        if not _counted(mention, likely, draft, found):
            return mention.text
    return _denied_verb(draft, used)


def _only_sorts(mention: Mention, likely: list[Sense], draft: Draft, found: Shaped) -> bool:
    """Whether listed rows are to be sorted by a column of theirs, which needs not be shown."""
    if mention not in draft.orders or not found.block.columns or mention in mentions_of(draft):
        return False
    return any(sense.kind == "column" and sense.table == found.bench.base.name for sense in likely)


def _denies_value(draft: Draft) -> bool:
    """Whether a negation went to a value: "lawyers who do not work in Leeds"."""
    return any(isinstance(one, Is) and one.negated for one in draft.filters)


def _denied_verb(draft: Draft, used: Used) -> str:
    """A denied verb that names rows that are not read: "did not work", where other rows are called "worked"."""
    tables = tables_with_sources(used.tables, used.lexicon)
    for before, word in pairwise(draft.words):
        if before not in {"not", "never"} or stem(word) not in LIGHT_STEMS or _denies_value(draft):
            continue
        forms = {stem(word), stem(f"{word}ed"), *map(stem, VERB_FORMS.get(word, ()))}
        named = {sense.table for form in forms for _, sense in used.lexicon.entries.get((form,), ())
                 if sense.quality >= LAST_WORD}  # fmt: skip
        if named and not named & tables:
            return f"{before} {word}"
    return ""


def _counted(mention: Mention, likely: list[Sense], draft: Draft, found: Shaped) -> bool:
    """Whether rows of the base are counted by what they point to: "books borrowed" are loans."""
    nouns = [one.noun for one in draft.figures if isinstance(one.noun, Noun) and one.function == "count"]
    heads = [part for noun in nouns for part in noun.mentions]
    targets = {column.references[0] for column in found.bench.base.columns if column.references is not None}
    return mention in heads and any(sense.kind == "table" and sense.table in targets for sense in likely)


def _did_it(mention: Mention, likely: list[Sense], draft: Draft, found: Shaped) -> bool:
    """Whether things only are who did what is added up: "how much did customers pay", where each row has a customer."""
    words = " ".join(draft.words)
    asked = words.startswith(("how ", "did ")) and any(
        f" did {more}{mention.text.lower()} " in f" {words} " for more in ("", "the ", "our ", "all ")
    )
    if not asked or not found.block.measures or found.block.dimensions or found.ranking is not None:
        return False
    targets = {c.references[0] for c in found.bench.base.columns if c.references and not may_be_empty(c)}
    return any(sense.kind == "table" and sense.table in targets for sense in likely)


def _only_happened(mention: Mention, likely: list[Sense], used: Used) -> bool:
    """Whether a participle says no more than that rows are there: "made", "sold" of products without sales."""
    if not is_participle(mention) or len(mention.words) > 2 or mention.words[1:] not in _BEHIND_VERBS:
        return False
    if stem(mention.words[0]) in LIGHT_STEMS:
        return True
    tables = used.lexicon.catalog.tables
    times = [one for one in likely if one.kind == "column" and tables[one.table].column(one.column).type in TIMES]
    return any(one.table in used.related or _always(one, used) for one in times)


def _always(time: Sense, used: Used) -> bool:
    """Whether each row of a table that is read has a time, for it is when the row came to be."""
    return time.table in used.tables and used.lexicon.catalog.tables[time.table].event_time == time.column


def stands_for(sense: Sense, used: Used) -> bool:
    """Whether a part of what is read stands for a meaning."""
    if sense.kind == "state":
        return True
    if sense.kind == "value":
        return used.has_value(sense)
    if sense.kind == "measure":
        return (sense.table, sense.measure) in used.measures or _counts(sense, used)
    if sense.kind == "column":
        return used.root(sense.table, sense.column) in used.columns
    return sense.table in tables_with_sources(used.tables, used.lexicon)


def _counts(sense: Sense, used: Used) -> bool:
    sql = used.lexicon.catalog.tables[sense.table].measures[sense.measure].sql
    return sql.replace(" ", "").upper() == "COUNT(*)" and sense.table in tables_with_sources(used.tables, used.lexicon)


def tables_with_sources(names: set[str], lexicon: Lexicon) -> set[str]:
    """Tables of the catalog, and those of it that they are made of."""
    tables: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name in lexicon.catalog.tables and name not in tables:
            tables.add(name)
            pending += lexicon.catalog.tables[name].upstream
    return tables
