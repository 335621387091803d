"""What happened between two looks at the same thing; pure."""

from collections.abc import Iterator
from difflib import SequenceMatcher

from streamhouse.model.schema_change import EventType
from streamhouse.model.shape import SeenColumn, Shape
from streamhouse.model.table import Column
from streamhouse.model.upstream import UpstreamEvent
from streamhouse.upstream.lattice import Change, change_of, common

_ALIKE = 0.5
_TYPES: dict[Change, EventType] = {
    "widen": EventType.WIDEN_TYPE,
    "narrow": EventType.NARROW_TYPE,
    "field": EventType.ADD_FIELD,
    "other": EventType.CHANGE_TYPE,
}
NO_VERSION = "gone"
"""The version of what is not there any more."""


def compare(pinned: Shape, live: Shape | None) -> tuple[UpstreamEvent, ...]:
    """What happened to a thing since it was pinned; the same two looks give the same events, with the same ids.

    Args:
        pinned: As the flow last took it.
        live: As it is; None: it is not there.
    """
    if live is None:
        return (_event(pinned, None, EventType.DROP_TABLE),)
    if pinned.identity and live.identity and pinned.identity != live.identity:
        detail = f"{pinned.identity} → {live.identity}"
        # Ids of columns mean nothing either, so that those of one name are taken for one column.
        columns = _columns(_without_ids(pinned), _without_ids(live))
        return (_event(pinned, live, EventType.RECREATE_TABLE, detail=detail), *columns)
    if _same(pinned, live):
        return ()
    found = [*_columns(pinned, live), *_rest(pinned, live)]
    if not found and pinned.columns != live.columns:
        found = [_event(pinned, live, EventType.CHANGE_TEXT)]
    return tuple(found)


def _without_ids(shape: Shape) -> Shape:
    return shape.model_copy(update={"columns": tuple(c.model_copy(update={"id": ""}) for c in shape.columns)})


def _same(pinned: Shape, live: Shape) -> bool:
    return (pinned.version, pinned.unknown, pinned.truncated) == (live.version, live.unknown, live.truncated)


def _rest(pinned: Shape, live: Shape) -> Iterator[UpstreamEvent]:
    if pinned.primary_key != live.primary_key:
        detail = f"({', '.join(pinned.primary_key)}) → ({', '.join(live.primary_key)})"
        yield _event(pinned, live, EventType.CHANGE_KEY, detail=detail)
    if pinned.layout and live.layout and pinned.layout != live.layout:
        yield _event(pinned, live, EventType.CHANGE_LAYOUT, detail=f"{pinned.layout} → {live.layout}")
    known_ids = pinned.truncated.split(",")
    if fresh := [one for one in live.truncated.split(",") if one and one not in known_ids]:
        after = live.model_copy(update={"version": f"{live.version}:{','.join(fresh)}"})
        yield _event(pinned, after, EventType.TRUNCATE_TABLE, truncations=tuple(fresh))
    known = {column.name for column, _ in pinned.unknown}
    for column, rows in live.unknown:
        if column.name not in known:
            detail = f"in {rows} of the rows looked at"
            yield _event(
                pinned, live, EventType.UNKNOWN_FIELD, now=column.column, default=column.default, detail=detail
            )
    yield from _of_shards(pinned, live)


def _of_shards(pinned: Shape, live: Shape) -> Iterator[UpstreamEvent]:
    pinned_columns = {c.name: c for c in pinned.columns}
    for name, types in live.shards:
        was = pinned_columns.get(name)
        if was is None:
            continue
        both = common(was.type, *types)
        if both == was.type:
            continue
        now = Column(name=name, type=both) if both is not None else None
        detail = f"shards have {', '.join(sorted(set(types)))}"
        yield _event(pinned, live, EventType.SHARDS_DISAGREE, was=was.column, now=now, detail=detail)


def _columns(pinned: Shape, live: Shape) -> Iterator[UpstreamEvent]:
    pairs, removed_columns, came = _matched(pinned, live)
    apart = {name for name, _ in live.shards}
    for was, now in pairs:
        if was.name != now.name:
            yield _event(pinned, live, EventType.RENAME_COLUMN, was=was.column, now=now.column)
        if now.name not in apart:
            yield from _changed(pinned, live, was, now)
    for was, now in _alike(removed_columns, came):
        removed_columns.remove(was)
        came.remove(now)
        yield _event(pinned, live, EventType.MAYBE_RENAME, was=was.column, now=now.column)
    for was in removed_columns:
        yield _event(pinned, live, EventType.DROP_COLUMN, was=was.column)
    for now in came:
        required = not now.nullable or now.default is not None
        kind = EventType.ADD_REQUIRED_COLUMN if required else EventType.ADD_COLUMN
        yield _event(pinned, live, kind, now=now.column, default=now.default)


def _matched(
    pinned: Shape, live: Shape
) -> tuple[list[tuple[SeenColumn, SeenColumn]], list[SeenColumn], list[SeenColumn]]:
    """Columns that are the same before and after, those that went, and those that came."""
    before, after = list(pinned.columns), list(live.columns)
    renames = dict(live.renames)
    pairs: list[tuple[SeenColumn, SeenColumn]] = []
    if all(c.id for c in (*before, *after)):
        by_id = {c.id: c for c in before}
        pairs = [(by_id[now.id], now) for now in after if now.id in by_id]
    else:
        by_name = {c.name: c for c in before}
        names = {c.name for c in after}
        for now in after:
            old_name = renames.get(now.name, "")
            was = by_name.get(now.name) or (by_name.get(old_name) if old_name not in names else None)
            if was is not None:
                pairs.append((was, now))
    old, new = [was for was, _ in pairs], [now for _, now in pairs]
    return pairs, [c for c in before if c not in old], [c for c in after if c not in new]


def _alike(removed_columns: list[SeenColumn], came: list[SeenColumn]) -> list[tuple[SeenColumn, SeenColumn]]:
    """Pairs that may be one column under another name: of one type, and with names alike, or the only ones."""
    if any(c.id for c in (*removed_columns, *came)):
        return []  # ids tell that they are different columns
    scored = sorted(
        (
            (SequenceMatcher(None, was.name.lower(), now.name.lower()).ratio(), was, now)
            for was in removed_columns
            for now in came
            if was.type == now.type
        ),
        key=lambda found: (-found[0], found[1].name, found[2].name),
    )
    only = len(removed_columns) == len(came) == 1
    pairs: list[tuple[SeenColumn, SeenColumn]] = []
    for score, was, now in scored:
        free = all(was is not a and now is not b for a, b in pairs)
        if free and (only or score >= _ALIKE):
            pairs.append((was, now))
    return pairs


def _changed(pinned: Shape, live: Shape, was: SeenColumn, now: SeenColumn) -> Iterator[UpstreamEvent]:
    change = change_of(was.type, now.type)
    changed = now.column.model_copy(update={"name": was.name})
    if change != "same" and not (live.inferred and change == "narrow"):
        yield _event(pinned, live, _TYPES[change], was=was.column, now=changed)
    if was.nullable != now.nullable and not live.inferred:
        kind = EventType.RELAX_NULLABILITY if now.nullable else EventType.TIGHTEN_NULLABILITY
        yield _event(pinned, live, kind, was=was.column, now=changed)


def _event(
    pinned: Shape,
    live: Shape | None,
    kind: EventType,
    *,
    was: Column | None = None,
    now: Column | None = None,
    default: str | None = None,
    truncations: tuple[str, ...] = (),
    detail: str = "",
) -> UpstreamEvent:
    return UpstreamEvent(
        type=kind,
        object=pinned.object,
        before=pinned.version,
        after=live.version if live is not None else NO_VERSION,
        tier=pinned.tier,
        was=was,
        now=now,
        default=default,
        truncations=truncations,
        detail=detail,
    )
