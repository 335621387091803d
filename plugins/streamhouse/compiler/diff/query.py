"""What an edit of a step's SQL changes: findings from the parts of two canonical queries."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from streamhouse.compiler.diff.policy import EditedStep, changed
from streamhouse.model.outcome import Finding, Outcome
from streamhouse.model.table import Column
from streamhouse.sql.canonical import Canonical, CanonicalCondition, CanonicalOutput, Joined, Rows
from streamhouse.sql.types import widens
from streamhouse.sql.wording import EVERY

_TIME_WINDOWS = ("window(", "session_window(")
_LOOKUP = " as lookup"


def query_findings(edited: EditedStep, old: Canonical, new: Canonical) -> list[Finding]:
    """Everything that the SQL means differently; empty only when the two mean the same for columns both have.

    Args:
        edited: The step.
        old: Its SQL before.
        new: Its SQL now, over columns with the types they had before: `width_findings` reports those.
    """
    if old.means(new):
        return []
    names = {new_name: edited.renames.get(new_name, new_name) for new_name in new.outputs}
    common = {name: before for name, before in names.items() if before in old.outputs}
    if old.rows is None or new.rows is None:
        if old.rows is None and new.rows is None and old.text == new.text:
            return []
        why = new.why or old.why
        return [changed(edited, 14, f"the SQL is compared as text only, for it has {why}", rows=True)]
    if old.rows.operator or new.rows.operator:
        found = list(_arms(edited, old, new, common))
    else:
        found = [*_rows(edited, old.rows, new.rows), *_values(edited, old.outputs, new.outputs, common)]
    replaced = [finding for finding in found if finding.rule == 37]  # its columns are others, so all else differs too
    return _merged(replaced or found)


def _merged(findings: list[Finding]) -> list[Finding]:
    unique: dict[tuple[int, str], Finding] = {}
    for finding in findings:
        unique.setdefault((finding.rule, finding.proof), finding)
    return list(unique.values())


# --- values ---


def _values(
    edited: EditedStep,
    old: Mapping[str, CanonicalOutput],
    new: Mapping[str, CanonicalOutput],
    common: Mapping[str, str],
) -> Iterator[Finding]:
    for name, before in common.items():
        was, now = old[before], new[name]
        if was.text == now.text or _only_wider(edited, name, was, now):
            continue
        rule = 16 if was.folds or now.folds else 14
        yield changed(edited, rule, f"{name} was {was.text}, is {now.text}", columns=(name,))


def _only_wider(edited: EditedStep, name: str, was: CanonicalOutput, now: CanonicalOutput) -> bool:
    """Whether a CAST gives a wider type to the same value, which rule 8 reports."""
    before = _type(edited.old.columns, edited.renames.get(name, name))
    after = _type(edited.new.columns, name)
    if before == "float" or not widens(before, after):  # a float has lost digits that a double would show
        return False
    bare = [output.casts[0] if output.casts else output.text for output in (was, now)]
    return bare[0] == bare[1]


def _type(columns: tuple[Column, ...], name: str) -> str:
    return next((column.type for column in columns if column.name == name), "")


# --- rows ---


def _rows(edited: EditedStep, old: Rows, new: Rows) -> Iterator[Finding]:
    if old.text == new.text:
        return
    found: list[Finding] = []
    if old.operator or new.operator:
        found.append(changed(edited, 37, f"rows of {_short(old.text)}, now of {_short(new.text)}", rows=True))
    else:
        found += _groups(edited, old, new)
        found += _sources(edited, old.sources, new.sources)
        # A condition that fell away with its source, or came with it, is reported with the source.
        fell = any(finding.rule in {21, 37} for finding in found)
        moved = _on(old) & new.where | _on(new) & old.where if any(f.rule == 17 for f in found) else frozenset()
        found += _conditions(edited, old.where - moved, new.where - moved, rule=13, is_reported=fell)
        found += _conditions(edited, old.having, new.having, rule=13, is_reported=False)
        if old.generators != new.generators:
            found.append(changed(edited, 14, _change(old.generators, new.generators), rows=True))
        if old.cut != new.cut:
            found.append(changed(edited, 13, _change(old.cut, new.cut), rows=True))
    if not found and not _only_added_lookups(edited, old, new):
        found.append(changed(edited, 14, f"{_short(old.text)} became {_short(new.text)}", rows=True))
    yield from found


def _on(rows: Rows) -> frozenset[CanonicalCondition]:
    return frozenset(condition for source in rows.sources for condition in source.on)


def _groups(edited: EditedStep, old: Rows, new: Rows) -> Iterator[Finding]:
    if old.group != new.group:
        keys = (old.group or frozenset()) ^ (new.group or frozenset())
        timed = bool(keys) and all(word.startswith(_TIME_WINDOWS) or "window(" in word for word in keys)
        was, now = _keys(old.group), _keys(new.group)
        yield changed(edited, 22 if timed else 15, f"{was} → {now}", rows=True)
    if old.distinct != new.distinct:
        yield changed(edited, 15, f"DISTINCT {_keys(old.distinct)} → {_keys(new.distinct)}", rows=True)


def _keys(keys: frozenset[str] | None) -> str:
    return "none" if keys is None else f"({', '.join(sorted(keys))})"


def _sources(edited: EditedStep, old: tuple[Joined, ...], new: tuple[Joined, ...]) -> Iterator[Finding]:
    if len(old) != len(new):
        old, new = _without_idle(edited, old, new), _without_idle(edited, new, old)
    if len(old) != len(new):
        yield changed(edited, 37, f"{_listed(old)} → {_listed(new)}", rows=True)
        return
    for was, now in zip(old, _placed(old, new), strict=True):
        yield from _source(edited, was, now)


def _placed(old: tuple[Joined, ...], new: tuple[Joined, ...]) -> list[Joined]:
    """The new sources, those that stand elsewhere in a chain of inner joins where the old query has them."""
    if {s.kind for s in (*old, *new)} & {"right", "full"}:
        return list(new)
    left, found = list(new), list[Joined | None]()
    for was in old:
        same = [
            now
            for now in left
            if was.kind in EVERY and now.kind in EVERY and _text_and_label(was) == _text_and_label(now)
        ]
        found.append(replace(same[0], kind=was.kind) if same else None)
        if same:
            left.remove(same[0])
    rest = iter(left)
    return [now if now is not None else next(rest) for now in found]


def _text_and_label(source: Joined) -> tuple[str, str]:
    return source.text, source.label


def _without_idle(edited: EditedStep, sources: tuple[Joined, ...], others: tuple[Joined, ...]) -> tuple[Joined, ...]:
    """The sources without those that only one side has and that neither add rows nor drop any."""
    other = {(s.table, s.label) for s in others}
    return tuple(s for s in sources if (s.table, s.label) in other or not _idle(edited, s))


def _idle(edited: EditedStep, source: Joined) -> bool:
    """A LEFT JOIN by the whole key finds one row or none, and keeps the row it looks for in either case."""
    key = {column.lower() for column in edited.keys.get(source.table, ())}
    return source.kind == "left" and bool(key) and key <= {column.lower() for column in source.equated}


def _only_added_lookups(edited: EditedStep, old: Rows, new: Rows) -> bool:
    rest = _without_idle(edited, old.sources, new.sources), _without_idle(edited, new.sources, old.sources)
    same = all(
        getattr(old, part) == getattr(new, part)
        for part in ("where", "group", "having", "generators", "distinct", "cut")
    )
    return rest[0] == rest[1] and same and len(old.sources) != len(new.sources)


def _source(edited: EditedStep, was: Joined, now: Joined) -> Iterator[Finding]:
    if was == now:
        return
    lookup = _LOOKUP in was.text or _LOOKUP in now.text
    if was.rows is not None and now.rows is not None:
        yield from _rows(edited, was.rows, now.rows)
    elif was.text != now.text:
        idle = lookup and _idle(edited, was) and _idle(edited, now)
        yield changed(edited, 21 if lookup else 37, f"{_short(was.text)} → {_short(now.text)}", rows=not idle)
        return
    if was.kind != now.kind:
        yield changed(edited, 17, f"{was.kind} join → {now.kind} join of {_short(now.text)}", rows=True)
        if not was.on or not now.on:  # of an inner join they stand in the WHERE
            return
    yield from _conditions(edited, was.on, now.on, rule=18, is_reported=False)


def _conditions(
    edited: EditedStep,
    old: frozenset[CanonicalCondition],
    new: frozenset[CanonicalCondition],
    *,
    rule: int,
    is_reported: bool,
) -> Iterator[Finding]:
    differing = sorted(old ^ new)
    if not differing or is_reported:
        return
    kinds = {_condition_rule(condition, rule) for condition in differing}
    worst = 38 if 38 in kinds else 13 if 13 in kinds else 18 if 18 in kinds else 19
    texts = [frozenset(c.text for c in side) for side in (old - new, new - old)]
    yield changed(edited, worst, _change(*texts), rows=True, forward=worst == 19)


def _condition_rule(condition: CanonicalCondition, rule: int) -> int:
    if condition.looks:
        return 38
    if condition.sources < 2:
        return rule
    return 18 if condition.equates else 19


# --- set operations ---


def _arms(edited: EditedStep, old: Canonical, new: Canonical, common: Mapping[str, str]) -> Iterator[Finding]:
    before = _positioned(old, {name: name for name in common.values()})
    after = _positioned(new, common)
    operators = {query.rows.operator for query in (old, new) if query.rows is not None and query.rows.operator}
    if operators != {"union all"}:
        # Which rows are one, or fall away, depends on every column.
        if old.rows is None or new.rows is None or old.rows.text != new.rows.text or before != after:
            yield changed(edited, 37, f"the arms of the {' or '.join(sorted(operators))} changed", rows=True)
        return
    removed_arms = _minus(before, after)
    came = _minus(after, before)
    if len(removed_arms) == len(came) == 1 and removed_arms[0][1].rows is not None and came[0][1].rows is not None:
        arm, other = removed_arms[0][1], came[0][1]
        yield from _rows(edited, removed_arms[0][1].rows, came[0][1].rows)
        names = {name: edited.renames.get(name, name) for name in other.outputs}
        yield from _values(edited, arm.outputs, other.outputs, {n: b for n, b in names.items() if b in arm.outputs})
    elif came and not removed_arms:
        yield _added_arms(edited, [arm for _, arm in came])
    elif removed_arms or came:
        yield changed(edited, 37, f"{len(removed_arms)} arms of the UNION ALL went, {len(came)} came", rows=True)


_Arm = tuple[object, Canonical]


def _positioned(query: Canonical, common: Mapping[str, str]) -> list[_Arm]:
    """The arms, each with what it shows in the columns both queries have; a plain query is one arm."""
    arms = query.rows.arms if query.rows is not None and query.rows.arms else (query,)
    return [
        (
            (
                arm.rows.text if arm.rows is not None else arm.text,
                tuple(sorted((before, arm.outputs[name].text) for name, before in common.items())),
            ),
            arm,
        )
        for arm in arms
    ]


def _minus(these: list[_Arm], those: list[_Arm]) -> list[_Arm]:
    left = [key for key, _ in those]
    found = []
    for key, arm in these:
        if key in left:
            left.remove(key)
        else:
            found.append((key, arm))
    return found


def _added_arms(edited: EditedStep, arms: list[Canonical]) -> Finding:
    reads = sorted({table for arm in arms if arm.rows is not None for table in _tables(arm.rows)} & edited.known)
    tables = ", ".join(sorted({table for arm in arms if arm.rows is not None for table in _tables(arm.rows)}))
    if reads:
        what = f"a new arm of the union reads {', '.join(reads)}, of which the flow has passed older rows by"
        return changed(edited, 37, what, rows=True)
    proof = f"a new arm of the union reads {tables} from its beginning; the other rows mean what they meant"
    return Finding(rule=37, outcome=Outcome.SWAP, proof=proof, rows=True, keeps_values=True)


def _tables(rows: Rows) -> Iterator[str]:
    for source in rows.sources:
        if source.table:
            yield source.table
        if source.rows is not None:
            yield from _tables(source.rows)
    for arm in rows.arms:
        if arm.rows is not None:
            yield from _tables(arm.rows)


# --- words ---


def _change(old: Iterable[str], new: Iterable[str]) -> str:
    was, now = (" and ".join(sorted(side)) or "nothing" for side in (old, new))
    return f"{was} → {now}"


def _listed(sources: tuple[Joined, ...]) -> str:
    return ", ".join(_short(source.text) for source in sources)


def _short(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:99]}…"
