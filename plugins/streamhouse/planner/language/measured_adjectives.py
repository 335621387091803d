"""As in "sailings more than 30 minutes late": an adjective behind a number, for a number that the catalog names."""

from dataclasses import replace

from streamhouse.planner.language.bench import unit_of_column
from streamhouse.planner.language.bounds_said import comparison_before
from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.levels import NEARLY_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.numbers import read_number, read_unit
from streamhouse.planner.language.origins import root_of
from streamhouse.planner.language.scope import is_number
from streamhouse.planner.language.senses import Sense
from streamhouse.planner.language.tokens import Token, stem
from streamhouse.planner.language.units import Unit, factor

_NOUNS = {
    "late": ("delay", "lateness", "tardiness", "late"), "overdue": ("overdue", "lateness", "delay"),
    "away": ("distance",), "far": ("distance",), "long": ("length", "duration"), "wide": ("width", "breadth"),
    "high": ("height",), "tall": ("height",), "deep": ("depth",), "thick": ("thickness",), "heavy": ("weight", "mass"),
    "old": ("age",),
}  # fmt: skip
_SAYING = frozenset({"that", "which", "who", "are", "is", "was", "were", "being"})


def with_measured_adjectives(tokens: tuple[Token, ...], lexicon: Lexicon, draft: Draft) -> tuple[Token, ...]:
    """The tokens with "with delay more than 30 minutes", where one number of the catalog is called so."""
    words = [token.word for token in tokens]
    for at in range(1, len(tokens)):
        first = comparison_before(words, at)
        number = read_number(tokens, at) if 0 < first < at else None
        unit, length = read_unit(tokens, at + number[1]) if number is not None else (None, 0)
        end = at + (number[1] if number is not None else 0) + length
        if unit is None or end >= len(tokens) or tokens[end].word not in _NOUNS:
            continue
        noun = next((one for one in _NOUNS[tokens[end].word] if _is_called(one, unit, lexicon)), "")
        begin = first
        while begin > 1 and tokens[begin - 1].word in _SAYING:
            begin -= 1
        if not noun or tokens[begin - 1].word in {"not", "no", "never"}:
            continue
        said = " ".join(token.text for token in tokens[first : end + 1])
        draft.assumptions.append(f"'{said}' is said of the {noun}")
        put = tuple(replace(tokens[end], text=one, word=one, stem=stem(one)) for one in ("with", noun))
        return (*tokens[:begin], *put, *tokens[first:end], *tokens[end + 1 :])
    return tokens


def _is_called(noun: str, unit: Unit, lexicon: Lexicon) -> bool:
    """Whether a noun only names numbers that a unit fits, and all are one number, which several tables may have."""
    senses = [sense for sense in lexicon.meanings((stem(noun),)) if sense.quality >= NEARLY_NAME]
    roots = {root_of(lexicon, sense.table, sense.column) for sense in senses if sense.kind == "column"}
    return bool(senses) and len(roots) == 1 and all(_fits(sense, unit, lexicon) for sense in senses)


def _fits(sense: Sense, unit: Unit, lexicon: Lexicon) -> bool:
    column = lexicon.catalog.tables[sense.table].column(sense.column) if sense.kind == "column" else None
    own = unit_of_column(column) if column is not None and is_number(column) else None
    return own is not None and factor(unit, own) is not None
