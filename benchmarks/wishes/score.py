"""Scores the Flow Planner on the wishes: coverage, precision, right refusals, time; see README.md.

python benchmarks/wishes.py --set dev --verbose
"""

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .answers import Answer, Judged, judge_refusal, labels_of, rules_of
from .catalogs import schema
from .figures import by_kind, by_schema, figures
from .judge import Rows, difference
from .planners import PLANNERS
from .repeat import repeat
from .tables import load_tables, run, spark_session
from .wish import Wish, read_wishes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETS = (
    "dev",
    "more",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
    "twentyfirst",
    "twentysecond",
    "twentythird",
    "twentyfourth",
    "twentyfifth",
    "twentysixth",
    "twentyseventh",
    "twentyeighth",
    "twentyninth",
    "thirtieth",
    "thirtyfirst",
    "thirtysecond",
    "thirtythird",
    "thirtyfourth",
    "thirtyfifth",
    "thirtysixth",
    "held",
)
BLIND = "blind"  # scored only when it is asked for, so that nobody sees its failures by accident
QUICK = 10


def main() -> None:
    """Score what the arguments name, and print it."""
    given = _arguments()
    for name in given.set or SETS:
        wishes = [wish for wish in read_wishes(name) if not given.only or wish.id in given.only]
        wishes = wishes[:QUICK] if given.quick else wishes
        if wishes and given.repeat:
            differing = repeat(name, given.planner, given.repeat, [wish.id for wish in wishes])
            equal = len(wishes) - len(differing)
            print(f"{name}, {given.planner}: {equal} of {len(wishes)} wishes equal in all of {given.repeat} runs")
            if differing:
                raise SystemExit(f"answers differ: {', '.join(differing)}")
        elif wishes:
            judged = score(wishes, given.planner)
            _show(f"{name}, {given.planner}", judged, given)


def score(wishes: Sequence[Wish], planner: str) -> list[Judged]:
    """Plan each wish, run what came and the reference, and judge; Spark starts only when there is a query."""
    answers = {wish.id: PLANNERS[planner](wish.wish, schema(wish.schema_name).catalog) for wish in wishes}
    judged = {wish.id: judge_refusal(wish, answers[wish.id]) for wish in wishes if wish.refuse}
    rest = [wish for wish in wishes if wish.id not in judged]
    judged |= {wish.id: _unanswered(wish, answers[wish.id]) for wish in rest if not answers[wish.id].accepted}
    asked = [wish for wish in rest if wish.id not in judged]
    if asked:
        with tempfile.TemporaryDirectory(prefix="wishes-") as folder, spark_session(Path(folder) / "session") as spark:
            for name in dict.fromkeys(wish.schema_name for wish in asked):
                load_tables(spark, schema(name).root, schema(name).plans, Path(folder))
                labels = labels_of(schema(name).catalog)
                for wish in asked:
                    if wish.schema_name == name:
                        judged[wish.id] = _compared(spark, wish, answers[wish.id], labels)
    return [judged[wish.id] for wish in wishes]


def _unanswered(wish: Wish, answer: Answer) -> Judged:
    return Judged(wish, answer, right=False, reason=answer.error or f"not accepted: {answer.said}")


def _compared(spark: "SparkSession", wish: Wish, answer: Answer, labels: frozenset[str]) -> Judged:
    from pyspark.errors import PySparkException

    assert answer.sql is not None
    try:
        result = run(spark, answer.sql)
    except PySparkException as error:
        cause = next(filter(None, str(error).splitlines()), type(error).__name__)
        return Judged(wish, answer, right=False, reason=f"Spark refuses the query: {cause}")
    references: list[Rows] = [run(spark, sql) for sql in wish.sql]
    found = [difference(reference, result, rules_of(wish, labels)) for reference in references]
    return Judged(wish, answer, right=None in found, reason="" if None in found else found[0] or "")


def _show(name: str, judged: Sequence[Judged], given: argparse.Namespace) -> None:
    if given.json:
        print(json.dumps(_as_dict(name, judged), indent=2))
        return
    if given.verbose:
        for one in judged:
            if not one.right:
                _explain(one)
    print(f"{name}: {figures(judged)}")
    for title, groups in (("kind", by_kind(judged)), ("schema", by_schema(judged))):
        print(f"by {title}")
        for group, found in groups.items():
            print(f"  {group:26} {found}")
    plain = [one for one in judged if one.wish.kind in {"one-block", "join", "rows"}]
    if plain:
        print(f"one block (one-block, join, rows): {figures(plain)}", flush=True)


def _explain(one: Judged) -> None:
    print(f"--- {one.wish.id} ({one.wish.schema_name}, {one.wish.group}): {one.wish.wish}\n    {one.reason}")
    if one.answer.sql:
        print(f"    query     {one.answer.sql}")
    for sql in one.wish.sql:
        print(f"    reference {sql}")


def _as_dict(name: str, judged: Sequence[Judged]) -> dict[str, object]:
    return {
        "set": name,
        "all": figures(judged).as_dict(),
        "kinds": {group: found.as_dict() for group, found in by_kind(judged).items()},
        "schemas": {group: found.as_dict() for group, found in by_schema(judged).items()},
        "wishes": [
            {
                "id": one.wish.id,
                "wish": one.wish.wish,
                "right": one.right,
                "accepted": one.answer.accepted,
                "reason": one.reason,
                "sql": one.answer.sql,
                "seconds": one.answer.seconds,
            }
            for one in judged
        ],
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=(*SETS, BLIND), action="append", help="by default all but blind")
    parser.add_argument("--only", nargs="+", metavar="ID", help="only these wishes")
    parser.add_argument("--planner", choices=sorted(PLANNERS), default="offline")
    parser.add_argument("--verbose", action="store_true", help="each failure with both queries and the first rows")
    parser.add_argument("--json", action="store_true")
    parser.add_argument(
        "--repeat", type=int, default=0, metavar="N", help="plan N times in five processes, and compare"
    )
    parser.add_argument("--quick", action="store_true", help="only the first wishes, for a smoke run")
    return parser.parse_args()


if __name__ == "__main__":
    main()
