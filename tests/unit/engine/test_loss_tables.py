"""`docs/restore.md` has the tables of the code: of accidents, and of the rules that decide."""

from itertools import product
from pathlib import Path

from streamhouse.engine.accidents import ACCIDENTS, typed
from streamhouse.engine.loss import RULES, CopyReach, LaterEpoch, LossCase, SegmentRows, StateRecord, judged

PAGE = Path(__file__).parents[3] / "docs" / "restore.md"


def tables():
    """Every table of the page: its rows, as lists of cells."""
    found, rows = [], []
    for line in [*PAGE.read_text(encoding="utf-8").splitlines(), ""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            found.append(rows)
            rows = []
    return found


def words(values, kind):
    return "any" if values == frozenset(kind) else " *or* ".join(one.value for one in kind if one in values)


def test_the_page_begins_with_the_table_of_accidents():
    assert tables()[0][2:] == [[one.happened, one.command, one.back] for one in ACCIDENTS]


def test_the_page_has_the_rules_in_their_order():
    wanted = [
        [
            words(rule.recorded, StateRecord),
            words(rule.others, LaterEpoch),
            words(rule.rows, SegmentRows),
            words(rule.copies, CopyReach),
            rule.verdict.value,
        ]
        for rule in RULES
    ]
    assert [rows[2:] for rows in tables() if rows[0][0] == "state store"] == [wanted]


def test_what_to_type_follows_from_the_rules():
    for accident in ACCIDENTS:
        for case in accident.cases:
            assert typed(case) == accident.command, f"{accident.happened}: {case}: {judged(case).why}"


def test_every_rule_belongs_to_an_accident():
    decided = {judged(case) for accident in ACCIDENTS for case in accident.cases}
    assert [rule.why for rule in RULES if rule not in decided] == []


def test_every_case_has_something_to_type():
    cases = (LossCase(*one) for one in product(StateRecord, LaterEpoch, SegmentRows, CopyReach))
    assert {typed(case) for case in cases} <= {accident.command for accident in ACCIDENTS}
