"""Columns that came, went, were renamed or changed their type."""

from collections.abc import Iterator, Mapping

from streamhouse.compiler.diff.around import Around, computes_the_same
from streamhouse.compiler.diff.policy import EditedStep
from streamhouse.compiler.older_nulls import tightened_columns
from streamhouse.model.outcome import Finding, Outcome
from streamhouse.model.plan import PlannedStep
from streamhouse.model.table import Column
from streamhouse.model.types import Strategy, Tier
from streamhouse.sql.canonical import Canonical, CanonicalOutput
from streamhouse.sql.types import widens


def renames_of(old: PlannedStep, new: PlannedStep) -> dict[str, str]:
    """Column → the name it had, where the action says so and the old name is gone."""
    before, after = {c.name for c in old.columns}, {c.name for c in new.columns}
    return {name: was for name, was in new.renamed.items() if was in before - after and name in after - before}


def column_findings(edited: EditedStep, old: Canonical, new: Canonical, *, relaid: bool) -> list[Finding]:
    """What is to be said of the columns of the table, beside what their expressions are.

    Args:
        edited: The step.
        old: Its SQL before.
        new: Its SQL now.
        relaid: Whether key or layout change, so that a new version of the table is made in any case.
    """
    before = {c.name: c for c in edited.old.columns}
    after = {c.name: c for c in edited.new.columns}
    renames = edited.renames
    came = [c for c in after.values() if c.name not in before and c.name not in renames]
    dropped_columns = [c for c in before.values() if c.name not in after and c.name not in renames.values()]
    found = [*_renamed(edited), *_taken(edited), *_guessed(came, dropped_columns, old, new)]
    guessed = {column for finding in found if finding.outcome is Outcome.BLOCK for column in finding.columns}
    key = set(edited.new.writes.primary_key) | set(edited.old.writes.primary_key)
    reported_names = guessed | key
    found += [
        _added(edited, column, new.outputs.get(column.name)) for column in came if column.name not in reported_names
    ]
    found += [
        _dropped(column, old.outputs.get(column.name))
        for column in dropped_columns
        if column.name not in reported_names
    ]
    found += _types(edited, before, after, relaid=relaid)
    return found


def _taken(edited: EditedStep) -> Iterator[Finding]:
    """Columns that get another name, which a column has already: neither is the other's values."""
    before, after = {c.name for c in edited.old.columns}, {c.name for c in edited.new.columns}
    for name, was in edited.new.renamed.items():
        if was in before - after and name in after & before:
            proof = (
                f"'renamed' of {edited.new.action} says that {name} was called {was}, but the table has had a {name} "
                f"beside {was}: drop or rename that in an edit of its own first"
            )
            yield Finding(rule=12, outcome=Outcome.BLOCK, proof=proof, columns=(name,))


def _renamed(edited: EditedStep) -> Iterator[Finding]:
    for name, was in edited.renames.items():
        if was in edited.old.writes.primary_key:
            proof = f"{was} is called {name}; no tier renames a column of the primary key"
        else:
            proof = f"{was} is called {name}; {_version_why(edited, 'rename')}"
        yield Finding(rule=12, outcome=Outcome.REBUILD, proof=proof, columns=(name,), keeps_values=True)


def _version_why(edited: EditedStep, verb: str) -> str:
    """Why a table gets a new version for a change that keeps its values."""
    if Tier.HOT in edited.new.writes.tiers.present:
        return f"the hot tier cannot {verb} a column, so it gets a table of its own"
    return f"a table is stored under one schema, so to {verb} a column it gets a new version"


def _guessed(came: list[Column], dropped_columns: list[Column], old: Canonical, new: Canonical) -> Iterator[Finding]:
    for column in came:
        now = new.outputs.get(column.name)
        for other in dropped_columns:
            was = old.outputs.get(other.name)
            if now is not None and was is not None and now.text == was.text and not now.constant:
                proof = (
                    f"{column.name} is what {other.name} was, and {other.name} is gone. Renamed? Then write "
                    f"output: {{renamed: {{{column.name}: {other.name}}}}}; without it {column.name} would be NULL "
                    "in older rows"
                )
                yield Finding(rule=12, outcome=Outcome.BLOCK, proof=proof, columns=(column.name, other.name))
                break


def _added(edited: EditedStep, column: Column, output: CanonicalOutput | None) -> Finding:
    if edited.old.writes.merge and edited.new.writes.merge and Tier.HOT in edited.new.writes.tiers.present:
        rule = 4 if output is not None and output.folds else 3
        proof = f"{column.name} is added; the hot tier adds none to a table that folds, so it gets a table of its own"
        return Finding(rule=rule, outcome=Outcome.REBUILD, proof=proof, columns=(column.name,), keeps_values=True)
    if output is not None and output.folds:
        if edited.new.strategy is Strategy.MERGE:
            proof = f"{column.name} is folded from now on; what came before is not in it until it is restated"
            return Finding(
                rule=4, outcome=Outcome.FORWARD, proof=proof, columns=(column.name,), restate=edited.rewrites
            )
        proof = f"{column.name} is added; NULL in a row until its key is touched, then of the whole group"
        return Finding(rule=4, outcome=Outcome.SWAP, proof=proof, columns=(column.name,), keeps_values=True)
    rule = 11 if output is not None and output.constant else 3
    until = "in rows already written" if edited.by_row else "in a row until its key is touched"
    proof = f"{column.name} is added; NULL {until}"
    return Finding(rule=rule, outcome=Outcome.SWAP, proof=proof, columns=(column.name,), keeps_values=True)


def _dropped(column: Column, output: CanonicalOutput | None) -> Finding:
    rule = 6 if output is not None and output.folds else 5
    proof = f"{column.name} is not written any more"
    return Finding(rule=rule, outcome=Outcome.SWAP, proof=proof, columns=(column.name,), keeps_values=True)


def _types(
    edited: EditedStep, before: Mapping[str, Column], after: Mapping[str, Column], *, relaid: bool
) -> Iterator[Finding]:
    for name, now in after.items():
        was = before.get(edited.renames.get(name, name))
        if was is None:
            continue
        text = f"{name} was {was.type}, is {now.type}"
        if was.type != now.type and not widens(was.type, now.type):
            yield _narrowed(name, text, relaid=relaid)
        elif was.type != now.type:
            yield _widened(edited, name, text)
        elif was.nullable != now.nullable and now.nullable and name not in edited.new.writes.primary_key:
            proof = f"{name} may be NULL from now on; every tier holds it so already"
            yield Finding(rule=10, outcome=Outcome.SWAP, proof=proof, columns=(name,), keeps_values=True)


def tightened(edited: EditedStep, around: tuple[Around, Around], *, rebuilt: bool) -> list[Finding]:
    """Columns that are never NULL any more, though rows already written may hold NULL.

    Args:
        edited: The step.
        around: What is around it before and after. Where it computes the same of the same inputs, no row differs.
        rebuilt: Whether all rows are recomputed, which proves it.
    """
    found = []
    for column in tightened_columns(edited.old, edited.new):
        if not rebuilt and computes_the_same(edited.old, edited.new, *around):
            return []
        if rebuilt or edited.whole:
            proof = f"{column.name} is never NULL any more, which the new rows prove"
            outcome = Outcome.REBUILD if rebuilt else Outcome.SWAP
        else:
            proof = f"{column.name} is never NULL any more, but rows already written may hold NULL"
            outcome = Outcome.BLOCK
        found.append(Finding(rule=10, outcome=outcome, proof=proof, columns=(column.name,), keeps_values=True))
    return found


def _narrowed(name: str, text: str, *, relaid: bool) -> Finding:
    if relaid:
        proof = f"{text} in the new version of the table"
        return Finding(rule=9, outcome=Outcome.REBUILD, proof=proof, columns=(name,))
    proof = f"{text}, which does not hold what is written; give it another name, or drop the table"
    return Finding(rule=9, outcome=Outcome.BLOCK, proof=proof, columns=(name,))


def _widened(edited: EditedStep, name: str, text: str) -> Finding:
    if name in edited.new.writes.primary_key:
        proof = f"{text}, and is part of the primary key, by which rows find their place"
    else:
        proof = f"{text}; {_version_why(edited, 'widen')}"
    return Finding(rule=8, outcome=Outcome.REBUILD, proof=proof, columns=(name,), keeps_values=True)
