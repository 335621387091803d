"""A Request as one short line, for tests: what is read, filtered, grouped, computed and ranked."""

from streamhouse.planner.request import Block, Derived, Filter, Measure, Ranking, Scalar, Understood


def compact(understood: Understood) -> str:
    """The Request, or the refusal, or the questions with their choices."""
    if understood.refusal:
        return f"REFUSED {understood.refusal}"
    if understood.request is None:
        return "ASKS " + " | ".join(f"{one.text} {one.choices}" for one in understood.questions)
    request = understood.request
    parts = [_block(request.block)]
    if request.ranking:
        parts.append(_ranking(request.ranking))
    options = {name: getattr(request, name) for name in ("alert", "freshness", "layer", "name")}
    parts += [f"{name} {value}" for name, value in options.items() if value]
    return "; ".join(parts)


def _scalar(of: Scalar | str) -> str:
    if isinstance(of, str):
        return of
    if of.kind == "column":
        return f"{of.role}.{of.column}" if of.role else of.column
    if of.kind == "number":
        return str(of.value)
    if of.kind == "cut":
        return f"{of.grain.value}({_scalar(of.of)})"
    if of.kind == "between":
        return f"{of.unit}s({_scalar(of.first)}→{_scalar(of.last)})"
    if of.kind == "arithmetic":
        return f"({_scalar(of.left)} {of.operator} {_scalar(of.right)})"
    return f"bands({_scalar(of.of)}: {', '.join(map(str, of.bounds))})"


def _all(filters: tuple[Filter, ...], joiner: str = " and ") -> str:
    return joiner.join(_filter(one) for one in filters)


def _filter(one: Filter) -> str:
    if one.kind == "condition":
        values = _scalar(one.other) if one.other is not None else ", ".join(map(str, one.values))
        return f"{_scalar(one.left)} {one.operator} {values}".strip()
    if one.kind == "during":
        if one.within:
            return f"{_scalar(one.of)} last {one.within} {one.unit.value}"
        return f"{_scalar(one.of)} {str(one.since or '')[:10]}..{str(one.until or '')[:10]}"
    if one.kind == "any":
        return f"({_all(one.of, ' or ')})"
    text = f"{'' if one.exists else 'no '}{one.table} by {', '.join(one.on.values())}"
    text += f" >= {one.at_least}" if one.at_least > 1 else ""
    return text + (f" where {_all(one.filters)}" if one.filters else "")


def _measure(one: Measure) -> str:
    text = one.named or f"{one.function}({_scalar(one.of) if one.of else '*'})"
    text += f" at {one.fraction}" if one.fraction else ""
    return text + (f" if {_all(one.where)}" if one.where else "")


def _derived(one: Derived, names: dict[str, str]) -> str:
    text = f"{one.kind}({names.get(one.of, one.of)}" + (f", {names.get(one.to, one.to)})" if one.to else ")")
    text += f" x{one.periods}" if one.periods > 1 else ""
    text += f" x {one.per_many}" if one.per_many > 1 else ""
    return text + (" %" if one.percent else "") + (f" {one.fold}" if one.kind == "moving" else "")


def _block(block: Block) -> str:
    parts = [block.base or f"[{_block(block.inner)}]"]  # type: ignore[arg-type]
    if block.joins:
        parts.append("join " + ", ".join(f"{join.role}={join.table}" for join in block.joins))
    if block.filters:
        parts.append(f"where {_all(block.filters)}")
    if block.pick:
        per = ", ".join(map(_scalar, block.pick.per))
        parts.append(f"{'last' if block.pick.last else 'first'} {_scalar(block.pick.by)} per {per}")
    if block.sessions:
        per = ", ".join(map(_scalar, block.sessions.per))
        parts.append(f"sessions {per} by {_scalar(block.sessions.time)} gap {block.sessions.gap}")
    if block.dimensions:
        parts.append("by " + ", ".join(_scalar(one.of) for one in block.dimensions))
    mark = dict.fromkeys(block.hidden, "-")
    if block.measures:
        parts.append("get " + ", ".join(mark.get(one.name, "") + _measure(one) for one in block.measures))
    if block.derived:
        names = {one.name: _measure(one) for one in block.measures}
        parts.append("then " + ", ".join(mark.get(one.name, "") + _derived(one, names) for one in block.derived))
    if block.having:
        parts.append(f"having {_all(block.having)}")
    if block.columns:
        parts.append("show " + ", ".join(_scalar(one.of) for one in block.columns))
    return "; ".join(parts)


def _ranking(one: Ranking) -> str:
    text = f"{'top' if one.descending else 'bottom'} {one.count} {one.by}"
    return text + (f" per {', '.join(one.per)}" if one.per else "") + (" ties" if one.ties else "")
