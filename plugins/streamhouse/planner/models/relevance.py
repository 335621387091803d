"""The tables of a catalog that a wish is most likely about, as many as a budget has room for. Pure."""

import re
from collections import Counter
from collections.abc import Iterable
from math import log

from streamhouse.model.types import Layer
from streamhouse.planner.catalog import Catalog, CatalogTable
from streamhouse.planner.language.tokens import stem

_WORD = re.compile(r"[^\W\d_]+|\d+")
_LAYERS = {layer: place for place, layer in enumerate(reversed(Layer))}  # what is computed already comes first
_LEADS = 3  # tables whose partners may be needed for a join


def ranked(wish: str, catalog: Catalog) -> list[CatalogTable]:
    """All tables, the most relevant first; equal arguments give an equal order.

    Words in names count three times, those in descriptions once, each the more the fewer tables have it. What the
    best tables point to comes with them.
    """
    wanted = set(_stems([wish]))
    words = {name: _words(table) for name, table in catalog.tables.items()}
    tables_with = Counter(word for found in words.values() for word in found if word in wanted)
    scores = {
        name: sum(found[word] * log(1 + len(words) / tables_with[word]) for word in wanted if word in found)
        for name, found in words.items()
    }

    def order(name: str) -> tuple[float, int, str]:
        return -scores[name], _LAYERS[catalog.tables[name].layer], name

    leads = sorted(scores, key=order)[:_LEADS]
    for key in catalog.keys:
        if key.table in leads and scores[key.table]:
            scores[key.to] = max(scores[key.to], scores[key.table] / 2)
    return [catalog.tables[name] for name in sorted(scores, key=order)]


def _words(table: CatalogTable) -> dict[str, int]:
    """Stem → its weight in a table."""
    named = [table.name.partition(".")[2], *table.synonyms, *table.measures, *table.dimensions]
    said = [table.description]
    for measure in table.measures.values():
        named += measure.synonyms
        said.append(measure.description)
    for column in table.columns:
        named += [column.name, *column.synonyms, *(word for words in column.values.values() for word in words)]
        said.append(column.description)
    return {**dict.fromkeys(_stems(said), 1), **dict.fromkeys(_stems(named), 3)}


def _stems(texts: Iterable[str]) -> Iterable[str]:
    return (stem(word) for text in texts for word in _WORD.findall(text.lower()))
