"""Keys, buckets, tiers and other settings of the table that a step writes."""

from collections.abc import Iterator

from streamhouse.compiler.diff.around import Around, computes_the_same
from streamhouse.compiler.diff.policy import EditedStep
from streamhouse.compiler.kept import is_former_default
from streamhouse.model.outcome import Finding, Outcome
from streamhouse.model.table import Table
from streamhouse.model.types import format_duration


def table_findings(edited: EditedStep, around: tuple[Around, Around], *, regrouped: bool) -> list[Finding]:
    """What differs in the table beside its columns.

    Args:
        edited: The step.
        around: What is around it before and after.
        regrouped: Whether the SQL groups by other keys, which already implies a new primary key.
    """
    laid = [*_layout(edited, regrouped=regrouped), *_null_keys(edited, around)]
    return [*laid, *_tiers(edited), *_event_time(edited)]


def _layout(edited: EditedStep, *, regrouped: bool) -> Iterator[Finding]:
    old, new = edited.old.writes, edited.new.writes
    before = {was: name for name, was in edited.renames.items()}
    key = tuple(before.get(name, name) for name in old.primary_key)
    if key != new.primary_key and not regrouped:
        proof = f"the primary key was ({', '.join(old.primary_key)}), is ({', '.join(new.primary_key)})"
        # Rows that were one, or were replaced, are several now, or the other way round; turned columns change none.
        yield _rebuild(proof) if set(key) == set(new.primary_key) else _other_rows(proof)
    if tuple(before.get(name, name) for name in old.bucket_key) != new.bucket_key:
        yield _rebuild(f"the bucket key was ({', '.join(old.bucket_key)}), is ({', '.join(new.bucket_key)})")
    if old.buckets != new.buckets:
        yield _rebuild(f"buckets: {old.buckets} → {new.buckets}; rows stand in the bucket their key hashes to")
    if tuple(before.get(name, name) for name in old.partition_by) != new.partition_by:
        yield _rebuild(f"partitions were by ({', '.join(old.partition_by)}), are by ({', '.join(new.partition_by)})")
    if bool(edited.old.part) != bool(edited.new.part):
        yield _other_rows("merge_engine: other steps may or may not write columns of the same row")
    yield from _merging(edited, old, new)


def _null_keys(edited: EditedStep, around: tuple[Around, Around]) -> Iterator[Finding]:
    old, new = edited.old.writes, edited.new.writes
    before = {was: name for name, was in edited.renames.items()}
    key = {before.get(name, name) for name in old.identifying}
    was_null = {before.get(name, name) for name in old.null_keys} & set(new.identifying)
    if was_null == set(new.null_keys) & key:
        return
    what = "primary key" if new.primary_key else "partitions"
    proof = f"columns of the {what} that may be NULL: {_names(old.null_keys)} → {_names(new.null_keys)}"
    if computes_the_same(edited.old, edited.new, *around):
        # A later version lets them be NULL, and no stored row has NULL there.
        proof += "; nothing of the step changed: the stored table stays as it is, and refuses such rows until a rebuild"
        yield Finding(rule=29, outcome=Outcome.NO_OP, proof=proof, keeps_values=True)
    else:
        # Where NULL is gone, its rows have another key or are no more; where it comes, the rows stay as they are.
        yield _other_rows(proof) if was_null - set(new.null_keys) else _rebuild(proof)


def _names(names: tuple[str, ...]) -> str:
    return f"({', '.join(names)})" if names else "none"


def _merging(edited: EditedStep, old: Table, new: Table) -> Iterator[Finding]:
    if old.selects or new.selects:
        yield from _selecting(edited, old, new)
        return
    if bool(old.merge) != bool(new.merge):
        now = "folds rows" if new.merge else "keeps the last row"
        yield _rebuild(f"the store {now} of a key from now on, and a stored table cannot change that")
        return
    for name, function in new.merge.items():
        was = old.merge.get(edited.renames.get(name, name), function)
        if was is not function:
            yield Finding(
                rule=16,
                outcome=Outcome.REBUILD,
                proof=f"{name} was folded by {was}, is folded by {function}; a stored table must not change that",
                columns=(name,),
            )


def _selecting(edited: EditedStep, old: Table, new: Table) -> Iterator[Finding]:
    """Which of the rows of a key is there was decided when each was written, so no stored row can tell."""
    column = old.version_column
    before = {was: name for name, was in edited.renames.items()}.get(column, column) if column else None
    if (old.merge_engine, before) == (new.merge_engine, new.version_column):
        return
    how = f"merge_engine: {old.merges_how} → {new.merges_how}"
    proof = f"{how}; rows that lost are not stored, so each key is decided again"
    yield _other_rows(proof)


def _other_rows(proof: str) -> Finding:
    return Finding(rule=29, outcome=Outcome.REBUILD, proof=proof, rows=True)


def _rebuild(proof: str) -> Finding:
    return Finding(rule=29, outcome=Outcome.REBUILD, proof=proof, keeps_values=True)


def _tiers(edited: EditedStep) -> Iterator[Finding]:
    old, new = edited.old.writes, edited.new.writes
    if old.tiers == new.tiers:
        return
    if old.tiers.target is not new.tiers.target:
        proof = f"its step wrote to the {old.tiers.target} tier, and writes to the {new.tiers.target} tier"
        yield Finding(rule=33, outcome=Outcome.REBUILD, proof=proof, keeps_values=True)
    before, wanted = (max(getattr(t.tiers, tier.value) for tier in t.tiers.present) for t in (old, new))
    if is_former_default(old.tiers, new.tiers):
        loss_note = "; rows that the hot tier dropped before stay gone" if old.deletes_after else ""
        proof = f"{_tiers_text(old, new)}{loss_note}"
        yield Finding(rule=34, outcome=Outcome.SWAP, proof=proof, keeps_values=True)
    elif wanted > before and edited.age > before:
        proof = (
            f"rows are to be kept for {format_duration(wanted)}, but older ones than {format_duration(before)} are gone"
        )
        yield Finding(rule=34, outcome=Outcome.BLOCK, proof=proof, keeps_values=True)
    elif old.tiers.target is new.tiers.target:
        yield Finding(rule=34, outcome=Outcome.SWAP, proof=_tiers_text(old, new), keeps_values=True)


def _tiers_text(old: Table, new: Table) -> str:
    was, now = (
        ", ".join(f"{tier} {format_duration(getattr(t.tiers, tier.value))}" for tier in t.tiers.present)
        for t in (old, new)
    )
    return f"tiers: {was} → {now}"


def _event_time(edited: EditedStep) -> Iterator[Finding]:
    old, new = edited.old.writes.event_time, edited.new.writes.event_time
    if (old is not None and edited.renames.get(new or "", new) != old) or (old is None and new is not None):
        proof = f"event_time: {old or 'none'} → {new or 'none'}; it only chooses what a backfill of a range covers"
        yield Finding(rule=38, outcome=Outcome.SWAP, proof=proof, keeps_values=True)
