"""A second check over a finished reading: what each word of the grammar asks for is visible in the Request.

It knows nothing of the rules that read the wish, so that a word which a rule took for something else is found here.
"""

from decimal import Decimal

from streamhouse.planner.language.bench import unit_of_column
from streamhouse.planner.language.bounds_said import comparison_at
from streamhouse.planner.language.draft import Draft, Noun
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.mentions import mentions_of
from streamhouse.planner.language.shape import Shaped
from streamhouse.planner.language.tokens import Token, singular, stem
from streamhouse.planner.language.units import unit_of
from streamhouse.planner.language.words import (
    AFTER_NUMBER,
    COMPARISONS,
    EXTREMES,
    GRAINS,
    LIGHT_STEMS,
    MONTHS,
    NEGATED,
    SUPERLATIVES,
    VERB_FORMS,
    WEEKDAYS,
    is_past_form,
)
from streamhouse.planner.request import AnyOf, Block, ColumnRef, Condition, Filter, Measure, Ranking, Related

_AVERAGES = frozenset({"average", "avg", "mean", "averaged"})
_LOWEST = frozenset({"minimum", "min", "lowest", "smallest", "least", "cheapest", "fewest", "shortest", "slowest"})
_HIGHEST = frozenset({"maximum", "max", "highest", "largest", "biggest", "greatest", "most", "longest"})
_UP, _DOWN = frozenset({">", ">="}), frozenset({"<", "<="})
_SCALES = tuple(map(Decimal, ("1", "100", "0.01", "1000", "0.001", "60", "3600", "24", "86400", "7", "1000000")))


def unseen(tokens: tuple[Token, ...], draft: Draft, found: Shaped) -> str:
    """The first words of a wish whose role its reading does not have; empty: all have theirs."""
    words = ["" if token.kind == "quoted" else token.word for token in tokens]
    for check in _CHECKS:
        missing = check(words, draft, found)
        if missing:
            return missing
    return _comparisons(tokens, words, found)


def _blocks(block: Block) -> list[Block]:
    return [block, *(_blocks(block.inner) if block.inner is not None else [])]


def _functions(found: Shaped) -> list[str]:
    return [one.function if one.named is None else "named" for b in _blocks(found.block) for one in b.measures]


def _said(draft: Draft, word: str) -> bool:
    """Whether a word is part of a name of the catalog that was read as one: "average basket", or is a value."""
    return any(
        word in mention.words and (len(mention.words) > 1 or mention.senses[0].kind == "value")
        for mention in mentions_of(draft)
    )


def _averages(words: list[str], draft: Draft, found: Shaped) -> str:
    said = next((word for word in words if word in _AVERAGES), "")
    kinds = {one.kind for b in _blocks(found.block) for one in b.derived}
    if not said or {"avg", "named", "median"} & set(_functions(found)) or kinds & {"moving", "above_average", "ratio"}:
        return ""
    if _said(draft, said) or (found.ranking is not None and _averaged(found, found.ranking)):
        return ""
    return said


def _averaged(found: Shaped, ranking: Ranking) -> bool:
    column = next((c for c in found.bench.base.columns if c.name == ranking.by), None)
    return column is not None and "average" in column.description


def _superlatives(words: list[str], draft: Draft, found: Shaped) -> str:
    """Each superlative is a ranking, a pick, or the lowest or highest of a number."""
    said = [word for at, word in enumerate(words) if _superlative(words, at) and not _said(draft, word)]
    extremes = sum(function in {"min", "max", "first", "last", "percentile"} for function in _functions(found))
    there = extremes + (found.ranking is not None) + any(b.pick is not None for b in _blocks(found.block))
    there += sum(one.kind == "rank" for b in _blocks(found.block) for one in b.derived)
    if said and not (there or _folds(found)):
        return said[0]
    if len(said) == 1 and found.ranking is not None and not extremes:
        return _turned(said[0], found.ranking)
    return ""


_PLACES = frozenset({"first", "last", "latest", "earliest", "newest", "oldest"})
_PERIODS = frozenset({*GRAINS, *MONTHS, *WEEKDAYS, "night", "weekend", "summer", "winter", "spring", "autumn", "fall",
                      "half", "quarter"})  # fmt: skip


def _first_or_last(words: list[str], draft: Draft, found: Shaped) -> str:
    """As in "the last ticket bought by each traveller": one row of each, or the lowest or highest time."""
    kinds = {"min", "max", "first", "last"}
    there = kinds & set(_functions(found)) or any(b.pick is not None for b in _blocks(found.block))
    if there or found.ranking is not None or _folds(found):
        return ""
    read = {at for mention in mentions_of(draft) for at in range(mention.start, mention.end)}
    valued = {mention.end for mention in mentions_of(draft) if mention.senses[0].kind == "value"}
    for at, word in enumerate(words):
        if word in {"first", "last"} and at in valued and words[at + 1 : at + 2] in ([], [","]):
            return f"{words[at - 1]} {word}"  # an order of groups, of which the value was read as a condition
        following = words[at + 1] if at + 1 < len(words) else ""
        before = words[at - 1] if at else ""
        timed = following[:1].isdigit() or following in _PERIODS | _NUMBERS or before in _PERIODS
        ordered = following in {"", "name", "names"} or before in {"to", "and", "at"} or word == "latest" == before
        ordered = (
            ordered or following == "first" or (word == "first" and (before in SUPERLATIVES or before in EXTREMES))
        )
        verb = word == "last" and before in {"that", "which", "who", "to", "must", "should", "did", "do", "does"}
        if word in _PLACES and at not in read and not (timed or ordered or verb):
            return f"{word} {following}"
    return ""


def _adverbs(words: list[str], draft: Draft, found: Shaped) -> str:
    """As in "paid late": how it was done is yes or no, and no value that happens to be called so."""
    texts = {v for b in _blocks(found.block) for one in b.filters if isinstance(one, Condition) for v in one.values}
    for mention in mentions_of(draft):
        said = words[mention.start - 1 : mention.end]
        late = len(said) == 2 and said[1] in {"late", "early"} and is_past_form(said[0])
        if late and texts & {sense.value for sense in mention.of_kind("value")}:
            return " ".join(said)
    return ""


def _folds(found: Shaped) -> bool:
    """Whether a named measure is a lowest or a highest."""
    texts = [found.bench.base.measures[one.named].sql.upper() for one in found.block.measures if one.named]
    return any(text.startswith(("MIN", "MAX")) for text in texts)


def _turned(word: str, ranking: Ranking) -> str:
    """The word, where it asks for the other end."""
    if word in _HIGHEST and not ranking.descending:
        return word
    return word if word in _LOWEST - {"slowest"} and ranking.descending else ""


def _superlative(words: list[str], at: int) -> bool:
    word, before = words[at], words[at - 1] if at else ""
    if word not in SUPERLATIVES and word not in EXTREMES and word not in _HIGHEST | _LOWEST:
        return False
    following = words[at + 1] if at + 1 < len(words) else ""
    if word in {"most", "least"} and (before == "at" or following == "of"):
        return False
    if following in {"first", "to"} or before == "to":
        return False  # an order of rows
    if word == "min" and before[:1].isdigit():
        return False  # minutes: "5 min late"
    return not (word in {"minimum", "maximum"} and before in {"a", "the"} and following == "of")


def _groups(words: list[str], draft: Draft, found: Shaped) -> str:
    """Each "per", "each" and "every" is a group, or a key that rows are picked by, or a quotient."""
    del draft
    marks = [at for at, word in enumerate(words) if word in {"per", "each", "every"}]
    marks = [at for at in marks if not (words[at] != "per" and at + 1 < len(words) and words[at + 1] == "other")]
    if not marks:
        return ""
    there = sum(len(b.dimensions) for b in _blocks(found.block))
    there += sum(len(b.pick.per) for b in _blocks(found.block) if b.pick is not None)
    there += sum(one.kind == "ratio" for b in _blocks(found.block) for one in b.derived)
    there += len(found.ranking.per) if found.ranking is not None else 0
    there += sum(_is_rate(found, one.named) for one in found.block.measures if one.named)
    if there or (found.bench.draft.figures and any(one.function == "avg" for one in found.bench.draft.figures)):
        return ""
    following = words[marks[0] + 1] if marks[0] + 1 < len(words) else ""
    return f"{words[marks[0]]} {following}".strip()


def _is_rate(found: Shaped, name: str) -> bool:
    measure = found.bench.base.measures.get(name)
    return measure is not None and ("/" in measure.sql or "AVG" in measure.sql.upper())


def _in_percent(found: Shaped, measure: Measure) -> bool:
    """Whether a measure is known to be in percent: by its unit, that of its columns, or a factor of 100."""
    base, of = found.bench.base, measure.of
    reaches = found.bench.places.scope.reaches
    units = [unit_of(measure.unit or "")]
    if isinstance(of, ColumnRef) and of.role in reaches:
        units.append(unit_of_column(reaches[of.role].table.column(of.column)))
    sql = base.measures[measure.named].sql if measure.named is not None else ""
    units += [unit_of_column(column) for column in base.columns if sql and column.name in sql]
    return "100" in sql or any(unit is not None and unit.name == "percent" for unit in units)


def _medians(words: list[str], draft: Draft, found: Shaped) -> str:
    for word in ("median", "percentile"):
        if word in words and word not in _functions(found) and not _said(draft, word):
            return word
    return ""


def _shares(words: list[str], draft: Draft, found: Shaped) -> str:
    """A share or a percentage is a quotient, or a measure that is one."""
    said = next((word for word in words if word in {"share", "percentage", "proportion", "fraction"}), "")
    alone = [at for at, word in enumerate(words) if word in {"percent", "%", "pct"} and at]
    said = said or next(
        (words[at] for at in alone if not (words[at - 1][:1].isdigit() or words[at - 1] in _NUMBERS)), ""
    )
    there = any(one.kind in {"share", "ratio", "change"} for b in _blocks(found.block) for one in b.derived)
    if not said or there or _said(draft, said):
        return ""
    named = [one.named for one in found.block.measures if one.named and _is_rate(found, one.named)]
    if said in {"%", "percent", "pct"}:  # a rate that is a fraction is none in percent
        return "" if any(_in_percent(found, one) for one in found.block.measures) else said
    return "" if named else said


_OVERALL = frozenset({"over all", "for all", "across all"})


def _totals(words: list[str], draft: Draft, found: Shaped) -> str:
    """A bound "in total" is on a sum of rows, not on each row; "per store and in total" asks for two results."""
    del draft
    for at in range(1, len(words)):
        both = words[at] == "and" and " ".join(words[at + 1 : at + 3]) in {"in total", "in all", "as a"} | _OVERALL
        if (
            both or (words[at] == "and" and words[at + 1 : at + 2] in (["overall"], ["altogether"]))
        ) and found.block.dimensions:
            return " ".join(words[at : at + 3])
    said = any(words[at : at + 2] in (["in", "total"], ["in", "all"]) for at in range(len(words)))
    bounds = [one for one in found.block.filters if isinstance(one, Condition) and one.operator in _UP | _DOWN]
    folded = any(one.function in {"sum", "count", "count distinct"} or one.named for one in found.block.measures)
    return "in total" if said and not folded and bounds and found.bench.base.name.startswith(("ods", "dwd")) else ""


def _different(words: list[str], draft: Draft, found: Shaped) -> str:
    """Different things are counted once, or listed once."""
    said = next((word for word in words if word in {"different", "distinct", "unique"}), "")
    once = "count distinct" in _functions(found) or (found.block.dimensions and not found.block.measures)
    if not said or once or draft.distinct or "named" in _functions(found) or '"<>"' in found.block.model_dump_json():
        return ""
    counts = [one for b in _blocks(found.block) for one in b.measures if one.function == "count"]
    key = found.bench.base.primary_key
    names = " ".join(one.name for one in counts)
    thing = singular(words[words.index(said) + 1]) if words[-1] != said else ""
    rows = counts and len(key) == 1 and key[0].split("_")[0] in names
    return "" if rows and thing in names else said


def _alternatives(words: list[str], draft: Draft, found: Shaped) -> str:
    """Each "or" is one more value of a list, one more part of an alternative, or stands between negated conditions."""
    said = 0
    denied = False  # "no end date or not cancelled": each has its own negation, so "or" joins them
    for at, word in enumerate(words):
        if word != "or":
            continue
        denied = denied or bool(set(words[at + 1 : at + 4]) & {"not", "no", "never", "without"})
        around = (words[at - 1] if at else "", words[at + 1] if at + 1 < len(words) else "")
        bound = any(words[at : at + len(phrase.split())] == phrase.split() for phrase, _ in AFTER_NUMBER)
        bound = bound and any(before[:1].isdigit() or before in _NUMBERS for before in words[max(at - 2, 0) : at])
        dated = all(word in MONTHS or word in WEEKDAYS or word[:1].isdigit() for word in around)
        if not bound and not dated and around not in _DATED and not _said(draft, "or"):
            said += 1
    conditions = [one for b in _blocks(found.block) for one in (*b.filters, *b.having)]
    conditions += [one for b in _blocks(found.block) for m in b.measures for one in m.where]
    return "or" if said > _choices(conditions) + (0 if denied else max(_negations(conditions) - 1, 0)) else ""


def _negations(filters: list[Filter]) -> int:
    """How many conditions say what is not so: "neither … nor" joins two of them."""
    related = sum(isinstance(one, Related) and not one.exists for one in filters)
    alternatives = [one for one in filters if isinstance(one, AnyOf)]
    inside = sum(1 if _is_nothing(one) else _negations(list(one.of)) for one in alternatives)
    plain = [one for one in filters if isinstance(one, Condition)]
    return related + inside + sum(_is_negative(one) for one in plain)


def _is_negative(one: Condition) -> bool:
    return one.operator in {"<>", "not in", "is null"} or one.values == (False,)


_NUMBERS = frozenset(
    "one two three four five six seven eight nine ten twelve hundred thousand dozen once twice".split()
)
_DATED = frozenset({("on", "before"), ("on", "after"), ("more", "less"), ("one", "more")})


def _is_nothing(one: AnyOf) -> bool:
    """Whether an alternative only says that there is none: a number is 0 or empty, which no "or" of a wish joins."""
    parts = [part for part in one.of if isinstance(part, Condition)]
    empty = any(part.operator == "is null" for part in parts)
    return empty and any(part.operator == "=" and part.values == (0,) for part in parts) and len(one.of) == len(parts)


def _choices(filters: list[Filter]) -> int:
    found = 0
    for one in filters:
        if isinstance(one, AnyOf) and _is_nothing(one):
            continue
        if isinstance(one, AnyOf):
            found += len(one.of) - 1 + _choices(list(one.of))
        elif isinstance(one, Related):
            found += _choices(list(one.filters))
        elif isinstance(one, Condition):
            found += max(len(one.values) - 1, 0)
    return found


_DOING = (["did"], ["do"], ["does"])
_ASKING = (["how", "many"], ["how", "much"], ["number", "of"])


def _asks_figure(words: list[str], draft: Draft, found: Shaped) -> str:
    """Words that ask for a figure have one each: "how much", "how many", "number of"."""
    del draft
    question_count = sum(words[at : at + 2] in _ASKING for at in range(len(words)))
    question_count += sum(words[at] == "what" and words[at + 1 : at + 2] in _DOING for at in range(len(words)))
    figures = sum(len(b.measures) + len(b.derived) - len(b.hidden) for b in _blocks(found.block))
    divided = any(one.kind == "ratio" for b in _blocks(found.block) for one in b.derived)
    if question_count > 1 and figures < question_count and not divided:
        return " ".join(words[:2])
    asks = next(
        (at for at in range(len(words)) if words[at] == "how" and words[at + 1 : at + 2] in (["many"], ["much"])), -1
    )
    return f"how {words[asks + 1]}" if asks >= 0 and not any(b.measures for b in _blocks(found.block)) else ""


def _verbs(words: list[str], draft: Draft, found: Shaped) -> str:
    """A verb that names one of several numbers is not passed over: "made", where others are scrapped."""
    lexicon = found.bench.places.scope.lexicon
    nouns = [one.noun for one in (*draft.figures, *([draft.best.by] if draft.best and draft.best.by else []))]
    heads = {stem(word) for noun in nouns if isinstance(noun, Noun) for word in noun.head.words}
    chosen = {measure.of.column for measure in found.block.measures if isinstance(measure.of, ColumnRef)}
    read = {word for mention in mentions_of(draft) for word in mention.words}
    for verb in (word for word in words if stem(word) in LIGHT_STEMS and word not in read):
        said = {s.column for phrase in lexicon.by_stem.get(stem(verb), ()) if heads & set(phrase)
                for _, s in lexicon.entries[phrase] if s.kind == "column"}  # fmt: skip
        if (said and chosen and not said & chosen) or _other_rows(verb, draft, found):
            return verb
    return ""


def _other_rows(verb: str, draft: Draft, found: Shaped) -> bool:
    """Whether a verb and what it is done to name other rows: "gives lessons" where some are "given lessons"."""
    lexicon = found.bench.places.scope.lexicon
    things = {stem(word) for mention in mentions_of(draft) if mention.of_kind("table") for word in mention.words}
    forms = {
        stem(verb),
        *next((map(stem, f) for one, f in VERB_FORMS.items() if stem(one) == stem(verb) or verb in f), ()),
    }
    phrases = [phrase for form in forms for phrase in lexicon.by_stem.get(form, ()) if things & set(phrase)]
    tables = {s.table for phrase in phrases for _, s in lexicon.entries[phrase] if s.kind in {"table", "measure"}}
    return bool(tables) and found.bench.base.name not in tables


def _opposites(words: list[str], draft: Draft, found: Shaped) -> str:
    """What is "unpaid" was not "paid": both are said of one row."""
    del draft, found
    said = next((word for word in words if word.startswith("un") and len(word) > 5 and word[2:] in words), "")
    return f"{said} … {said[2:]}" if said else ""


def _by_number(words: list[str], draft: Draft, found: Shaped) -> str:
    """As in "bookings by number of nights": a group of each number, or an order, and no second figure."""
    del draft
    said = any(words[at : at + 3] == ["by", "number", "of"] for at in range(len(words)))
    there = found.ranking is not None or any(b.dimensions or b.derived for b in _blocks(found.block))
    return "by number of" if said and not there else ""


def _both_ways(words: list[str], draft: Draft, found: Shaped) -> str:
    """As in "with and without a discount": both are wanted, apart or together, and a condition keeps one."""
    del draft, found
    joined = ("and", "or", "/", "vs", "versus")
    for at in range(1, len(words) - 1):
        if words[at] in joined and {words[at - 1], words[at + 1]} == {"with", "without"}:
            return " ".join(words[at - 1 : at + 2])
    return ""


def _which_things(words: list[str], draft: Draft, found: Shaped) -> str:
    """As in "which volunteers walk dogs": the things are listed, and no rows that only point to them."""
    block = found.block
    listed = not (block.measures or block.dimensions or block.columns or block.inner or block.pick)
    if not listed or words[:1] not in (["which"], ["what"]) or len(words) < _THING_AND_VERB:
        return ""
    first = next((one for one in mentions_of(draft) if one.start == 1), None)
    senses = first.of_kind("table") if first is not None else ()
    tables = {sense.table for sense in senses if sense.quality >= WHOLE_NAME}
    return words[1] if tables and block.base not in tables else ""


_THING_AND_VERB = 3


# -- comparisons ----------------------------------------------------------------------------------------------------


def _comparisons(tokens: tuple[Token, ...], words: list[str], found: Shaped) -> str:
    """A comparison with a number has its direction in the Request, too."""
    conditions = [one for b in _blocks(found.block) for one in (*b.filters, *b.having)]
    conditions += [one for b in _blocks(found.block) for m in b.measures for one in m.where]
    bounds = list(_bounds(conditions))
    for at in range(len(words)):
        compared = _operator(words, at)
        if compared is None:
            continue
        operator, end = compared
        token = tokens[end] if end < len(tokens) else None
        if token is None or token.kind != "number" or not isinstance(token.value, Decimal) or _is_year(token):
            continue
        operator = _after(words, end + 1) or operator
        if (at and words[at - 1] in {"not", "no", "never"}) or not operator:
            continue
        if {"not", "never"} & set(words[max(at - 4, 0) : at]):
            operator = NEGATED[operator]  # "did not cost more than 50"
        wanted = _UP if operator in _UP else _DOWN if operator in _DOWN else None
        near = [op for op, value in bounds if value in {token.value * scale for scale in _SCALES}]
        if wanted and near and not wanted & set(near):
            return " ".join(token.text for token in tokens[at : end + 1])
    return ""


def _is_year(token: Token) -> bool:
    return len(token.text) == 4 and token.text.startswith(("19", "20"))


def _operator(words: list[str], at: int) -> tuple[str, int] | None:
    said = comparison_at(words, at)
    return (COMPARISONS[said], at + len(said)) if said else None


def _after(words: list[str], at: int) -> str:
    for phrase, operator in AFTER_NUMBER:
        parts = phrase.split()
        if words[at : at + len(parts)] == parts or words[at + 1 : at + 1 + len(parts)] == parts:
            return operator
    return ""


def _bounds(filters: list[Filter]) -> list[tuple[str, Decimal]]:
    found: list[tuple[str, Decimal]] = []
    for one in filters:
        if isinstance(one, AnyOf):
            found += _bounds(list(one.of))
        elif isinstance(one, Related):
            found += [(">=", Decimal(one.at_least)), *_bounds(list(one.filters))]
        elif isinstance(one, Condition):
            found += [(one.operator, value) for value in _numbers(one) if one.operator in _UP | _DOWN]
    return found


def _numbers(one: Condition) -> list[Decimal]:
    return [Decimal(value) for value in one.values if isinstance(value, int | Decimal) and not isinstance(value, bool)]


_CHECKS = (
    _averages, _superlatives, _groups, _medians, _shares, _totals, _different, _alternatives, _asks_figure, _verbs,
    _opposites, _both_ways, _by_number, _first_or_last, _adverbs, _which_things,
)  # fmt: skip
