"""Held against what SQLMesh publishes on how it categorises changes: we may be finer, never laxer.

Their cases are those of `test_categorize_change_sql` in tests/core/test_snapshot.py of SQLMesh (Apache-2.0), told of
our project. There a change is *non-breaking* only when projections are added that keep the rows; of all else they
say that it cannot be told, and treat it as breaking: older rows, and all made from them, are computed anew.
"""

import shutil
from dataclasses import dataclass

import pytest

from streamhouse.compiler.diff import diff
from streamhouse.errors import StrategyError
from streamhouse.model.outcome import Outcome
from tests.unit.compiler.test_outcomes import BASE, base, plans

BEFORE = "SELECT id, cents * 2 AS twice, note FROM orders WHERE cents > 100"
NON_BREAKING = frozenset({Outcome.SWAP})
BREAKING = frozenset({Outcome.REBUILD, Outcome.BLOCK})
SAME = frozenset({Outcome.NO_OP})
REFUSED: frozenset[Outcome] = frozenset()  # no such table can be kept up to date, so the file is an error


@dataclass(frozen=True)
class Case:
    """An edit of one action, with what SQLMesh says of such a one, and where we are finer, why we may be."""

    name: str
    after: str
    theirs: str
    ours: frozenset[Outcome]
    finer: str = ""


CASES = [
    Case("no change", BEFORE, "no category", SAME),
    Case("comment", f"{BEFORE} -- annotation", "metadata only", SAME),
    Case(
        "projection added",
        "SELECT id, cents * 2 AS twice, note, 2 AS two FROM orders WHERE cents > 100",
        "non-breaking",
        NON_BREAKING,
    ),
    Case(
        "complex projection added",
        BEFORE.replace(" FROM", ", CAST(abs(coalesce(cents, 0) + 1) * 2 AS INT) AS c FROM"),
        "non-breaking",
        NON_BREAKING,
    ),
    Case(
        "several projections added",
        "SELECT id, 2 AS two, cents * 2 AS twice, store, rate, note FROM orders WHERE cents > 100",
        "non-breaking",
        NON_BREAKING,
    ),
    Case(
        "projection removed",
        "SELECT id, note FROM orders WHERE cents > 100",
        "undetermined",
        NON_BREAKING,
        "nobody reads it; where somebody does, it blocks (05_dropped_column_that_is_read)",
    ),
    Case(
        "projection replaced",
        "SELECT id, cents * 3 AS twice, note FROM orders WHERE cents > 100",
        "undetermined",
        BREAKING,
    ),
    Case(
        "projection moved",
        "SELECT note, id, cents * 2 AS twice FROM orders WHERE cents > 100",
        "undetermined",
        SAME,
        "columns are written and read by name",
    ),
    Case("condition added", f"{BEFORE} AND store = 2", "undetermined", BREAKING),
    Case("condition removed", "SELECT id, cents * 2 AS twice, note FROM orders", "undetermined", BREAKING),
    Case("DISTINCT added", BEFORE.replace("SELECT", "SELECT DISTINCT"), "undetermined", REFUSED),
    Case(
        "EXPLODE added",
        "SELECT id, cents * 2 AS twice, note, explode(array(1, 2)) AS part FROM orders WHERE cents > 100",
        "undetermined",
        BREAKING,
    ),
    Case(
        "POSEXPLODE in LATERAL VIEW added",
        "SELECT id, cents * 2 AS twice, note, part FROM orders LATERAL VIEW explode(array(1, 2)) p AS part"
        " WHERE cents > 100",
        "undetermined",
        BREAKING,
    ),
    Case(
        "sub-select in place of the table",
        "SELECT id, cents * 2 AS twice, note FROM (SELECT * FROM orders WHERE cents > 100) AS o",
        "undetermined",
        SAME,
        "its canonical form is the same",
    ),
    Case(
        "LIMIT added to a sub-select",
        "SELECT id, cents * 2 AS twice, note FROM (SELECT * FROM orders ORDER BY id LIMIT 5) AS o WHERE cents > 100",
        "undetermined",
        REFUSED,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_never_laxer(case, tmp_path):
    before = base()["shop"]
    after = tmp_path / "after"
    shutil.copytree(BASE, after)
    file = after / "actions" / "large_orders.sql"
    text = file.read_text()
    assert BEFORE in text
    file.write_text(text.replace(BEFORE, case.after))
    if case.ours == REFUSED:
        with pytest.raises(StrategyError):
            plans(after)
        return
    found = diff(before, plans(after)["shop"], {})
    [step] = [step for step in found.steps if step.table == "ads.large_orders"]
    assert step.outcome in case.ours, (case.theirs, [f.proof for f in step.findings])
    if step.outcome is Outcome.SWAP and case.theirs == "undetermined":
        assert case.finer, "a milder outcome than theirs needs its reason"


def test_what_reads_a_breaking_change_is_computed_anew_too(tmp_path):
    """Their "indirect breaking"; "indirect non-breaking" of an added column is a step that is left alone."""
    before = base()["shop"]
    after = tmp_path / "after"
    shutil.copytree(BASE, after)
    file = after / "actions" / "clean_orders.sql"
    text = file.read_text()
    file.write_text(text.replace("upper(o.note) AS note, o.at", "upper(o.note) AS note, o.at, 1 AS one"))
    added = diff(before, plans(after)["shop"], {})
    assert {s.step: s.outcome for s in added.steps if s.outcome is not Outcome.NO_OP} == {"dwd.orders": Outcome.SWAP}
    file.write_text(text.replace("o.store, o.cents", "o.store, o.cents + 1 AS cents"))
    changed = diff(before, plans(after)["shop"], {})
    outcomes = {step.step: step.outcome for step in changed.steps}
    assert outcomes["dwd.orders"] is Outcome.FORWARD  # this layer keeps the rows it has, and tells so
    assert outcomes["dws.sums_by_store"] is Outcome.FORWARD
    assert outcomes["dwd.both"] is Outcome.NO_OP  # reads none of it
