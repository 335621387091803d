"""Spark's own grammar: whether Spark's parser reads a text at all.

`spark_grammar.json` holds the automaton of Spark's parser (`scripts/spark_grammar.py` takes it out of Spark's jar). It
is run for all readings of a text at once, so that it takes what any of them takes; precedence changes no answer.
"""

import json
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from sqlglot.errors import ParseError

from streamhouse.sql.dialect.hints import of_pipe
from streamhouse.sql.dialect.spark_words import Word, longest_sign, refused_at, words_of

PARAMETER = "a parameter is a value, never a name"
_END = -1
_PRECEDENCES = 64
"""More than any rule of the grammar has."""

_LONGEST = 40
_BANG_IS_NO_NOT = frozenset({"IS", "IN", "BETWEEN", "LIKE", "ILIKE", "RLIKE", "REGEXP"})


@dataclass(frozen=True, slots=True)
class _Step:
    """What a state does with one kind of token.

    Attributes:
        behind: States after it.
        calls: Rules that may begin with it: first state, precedence, state behind the rule.
        stops: Whether the rule may end before it.
    """

    behind: tuple[int, ...]
    calls: tuple[tuple[int, int, int], ...]
    stops: bool


@dataclass(slots=True, eq=False)
class _RuleCall:
    """A rule at a place of the text: what of it was met, where it may end, and who waits for that."""

    least: int
    visited: set[int] = field(default_factory=set)
    ends: set[int] = field(default_factory=set)
    waiting: list[tuple[int, "_RuleCall"]] = field(default_factory=list)


class Grammar:
    """Spark's grammar of queries and expressions."""

    def __init__(self, grammar_data: dict[str, Any]) -> None:
        self.words: dict[str, int] = grammar_data["words"]
        self.kinds: dict[str, int] = grammar_data["kinds"]
        self.starts: dict[str, int] = grammar_data["starts"]
        self.longest_sign = longest_sign(self.words)
        self._states = grammar_data["states"]
        self._sets = [frozenset(kinds) for kinds in grammar_data["sets"]]
        self._steps: dict[int, dict[int, _Step]] = {}
        self._firsts: dict[int, tuple[frozenset[int], bool]] = {}
        self.fault = lru_cache(maxsize=4096)(self._fault)

    def _fault(self, kinds: tuple[int, ...], root: str) -> int | None:
        """Place of the token at which no reading goes on; None: tokens of these kinds are a whole `root`."""
        count, states = len(kinds), len(self._states)
        steps = [self._steps.setdefault(kind, {}) for kind in (*kinds, _END)]
        first = _RuleCall(0)
        calls: dict[int, _RuleCall] = {}
        todo, furthest = [(self.starts[root], 0, first)], 0
        while todo:
            state, at, call = todo.pop()
            mark = at * states + state
            if mark in call.visited:
                continue
            call.visited.add(mark)
            furthest = max(furthest, at)
            key = state * _PRECEDENCES + call.least
            step = steps[at].get(key)
            if step is None:
                step = steps[at][key] = self._make_step(state, call.least, kinds[at] if at < count else _END)
            todo += [(behind, at + 1, call) for behind in step.behind]
            for start, least, behind in step.calls:
                key = (at * states + start) * _PRECEDENCES + least
                inner = calls.get(key)
                if inner is None:
                    inner = calls[key] = _RuleCall(least)
                    todo.append((start, at, inner))
                inner.waiting.append((behind, call))
                todo += [(behind, end, call) for end in inner.ends]
            if step.stops and at not in call.ends:
                call.ends.add(at)
                for behind, waiting in call.waiting:
                    todo.append((behind, at, waiting))
        return None if count in first.ends else min(furthest, count)

    def _make_step(self, start: int, least: int, kind: int) -> _Step:
        behind, calls, stops = [], [], False
        todo, visited = [start], {start}
        while todo:
            edges = self._states[todo.pop()]
            if edges == "stop":
                stops = True
                continue
            for how, target, *operands in edges:
                if how == "pass" or (how == "least" and operands[0] >= least):
                    if target not in visited:
                        visited.add(target)
                        todo.append(target)
                elif how == "read" and kind in self._sets[operands[0]]:
                    behind.append(target)
                elif how == "call":
                    kinds, empty = self._first(operands[0])
                    if empty or kind in kinds:
                        calls.append((operands[0], operands[1], target))
        return _Step(tuple(behind), tuple(calls), stops)

    def _first(self, start: int) -> tuple[frozenset[int], bool]:
        """The kinds of token that a rule may begin with, and whether it may be empty."""
        known = self._firsts.get(start)
        if known is not None:
            return known
        kinds: set[int] = set()
        todo, visited, empty = [start], {start}, False
        while todo:
            edges = self._states[todo.pop()]
            if edges == "stop":
                empty = True
                continue
            for how, target, *operands in edges:
                further = how in ("pass", "least")
                if how == "read":
                    kinds |= self._sets[operands[0]]
                elif how == "call":
                    inner, further = self._first(operands[0])
                    kinds |= inner
                if further and target not in visited:
                    visited.add(target)
                    todo.append(target)
        found = self._firsts[start] = (frozenset(kinds), empty)
        return found


@cache
def grammar() -> Grammar:
    """The grammar of the Spark that Streamhouse is made for."""
    text = files("streamhouse.sql.dialect").joinpath("spark_grammar.json").read_text(encoding="utf-8")
    return Grammar(json.loads(text))


@lru_cache(maxsize=1024)
def check_spark_grammar(sql: str, root: str = "query") -> None:
    """Refuse a text that Spark's parser does not read; QUALIFY, which Spark lacks, may stand behind HAVING.

    Args:
        sql: One query or expression.
        root: `query` or `expression`.

    Raises:
        ParseError: at the first token that fits no reading.
    """
    spark = grammar()
    words = words_of(sql, spark.words, spark.kinds, spark.longest_sign)
    while words and sql[words[-1].start] == ";":
        words.pop()
    for place, word in enumerate(words):
        text = sql[word.start : word.end]
        if text == "|>":
            behind = sql[words[place + 1].start : words[place + 1].end] if place + 1 < len(words) else "…"
            raise refused_at(sql, word.start, "'|>' is not analysed", text, of_pipe(behind))
        if text == "!":
            near = {
                sql[one.start : one.end].upper() for one in (*words[max(place - 1, 0) : place], *words[place + 1 :][:1])
            }
            if near & _BANG_IS_NO_NOT:
                raise refused_at(sql, word.start, "'!' denies only what follows it", text, "write NOT")
    at = spark.fault(tuple(word.kind for word in words), root)
    if at is not None:
        raise _refused(sql, words, at)


def _refused(sql: str, words: list[Word], at: int) -> ParseError:
    if at == len(words):
        return refused_at(sql, len(sql.rstrip()), "the SQL is not complete")
    word = words[at]
    text = sql[word.start : word.end]
    if text.startswith('"'):
        hint = f"write `{text[1:-1]}`"
        return refused_at(sql, word.start, f"{text} is a string for Spark, and no name", text, hint)
    if text == ":" and at + 1 < len(words):
        name = sql[words[at + 1].start : words[at + 1].end]
        return refused_at(sql, word.start, f":{name} stands where a name belongs", text, PARAMETER)
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return refused_at(sql, word.start, f"Spark does not take '{shown}' here", text)
