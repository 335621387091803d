"""Cuts a query into stages: inner queries that are kept as tables, and what is made of them.

A query is one block where each of its inputs can be followed through it. Else the inner queries that fold, part or cut
rows become stages, each a block of its own over the ports and the stages before it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.model.delta_plan import DeltaBlock, DeltaPlan, DeltaStage
from streamhouse.model.table import Column
from streamhouse.model.types import ReadMode
from streamhouse.sql.delta.cut import is_constant, scope_of
from streamhouse.sql.delta.plan import block_plan
from streamhouse.sql.delta.rewrite import inline_with, rewritten, split
from streamhouse.sql.delta.steady import refuse_cut_at_random
from streamhouse.sql.fold import group_keys
from streamhouse.sql.infer import Inference
from streamhouse.sql.row_keys import RowKeys, folds_to_one
from streamhouse.sql.rows import InputInfo, Inputs, NotProvenError
from streamhouse.sql.schema import CheckedQuery
from streamhouse.sql.scopes import TangledError, aggregates_in, peel, read_sources, windows_in
from streamhouse.sql.traces import text_of
from streamhouse.sql.windows import bounds_of

_STAGE = "__stage"
_KEY = "__k"
_MOST = 32  # stages of one step


def delta_plan(query: CheckedQuery, inputs: Inputs, key: tuple[str, ...]) -> DeltaPlan:
    """How a step with this query is kept up to date by the groups that an epoch touches.

    Args:
        query: Checked and qualified; stays as it is.
        inputs: Of every port.
        key: Primary key of the result.

    Raises:
        NotProvenError: this is not known to give what the query gives.
    """
    for port, info in inputs.items():
        if info.mode is ReadMode.LOOKUP:
            raise NotProvenError(f"what {port} had when a row met it is not stored, so it cannot be taken back")
    try:
        plain = block_plan(_checked(rewritten(query.tree.copy()), query.inference), inputs, key)
    except NotProvenError as error:
        plain, why = None, error
    if plain is not None and all(map(plain.follows, inputs)):
        return plain
    try:
        return _Stages(inputs, query.inference).plan(query.tree.copy(), key)
    except NotProvenError:
        if plain is None:
            raise why from None
        return plain


@dataclass
class _Stages:
    """The stages of one query.

    Attributes:
        inputs: Of the ports, and of the stages found.
        inference: The same.
        found: Inner ones first.
        known: Text of an inner query → its stage, for a WITH query is read in several places.
    """

    inputs: dict[str, InputInfo] | Inputs
    inference: Inference
    found: list[DeltaStage] = field(default_factory=list)
    known: dict[str, DeltaStage] = field(default_factory=dict)

    def plan(self, root: exp.Query, key: tuple[str, ...]) -> DeltaPlan:
        """Of a query; changes it."""
        tree = split(rewritten(inline_with(root)))
        if isinstance(tree, exp.SetOperation):
            tree = _over(tree)
        self._extract(tree)
        main = self._block(tree, key)
        return main.model_copy(update={"stages": tuple(self.found)})

    def _extract(self, root: exp.Query) -> None:
        """Put stages in place of the inner queries that are some."""
        uncut_id = id(_uncut(root))
        for scope in list(scope_of(root).traverse()):
            query = scope.expression
            if query is root or id(query) == uncut_id or not isinstance(query, exp.Select) or not _is_stage(query):
                continue
            if scope_of(query.copy()).external_columns:
                continue  # it is another query for each row around it
            stage = self._stage(query)
            names = [item.alias_or_name for item in query.selects]
            query.replace(exp.select(*(exp.column(name, stage.name) for name in names)).from_(_read(stage.name)))

    def _stage(self, query: exp.Select) -> DeltaStage:
        text = query.sql("spark")
        if text not in self.known:
            if len(self.found) == _MOST:
                raise NotProvenError(f"the query has more than {_MOST} inner queries that fold rows")
            name = f"{_STAGE}{len(self.found)}"
            refuse_cut_at_random(scope_of(query.copy()), self._row_keys())
            tree, key = self._keyed(query.copy())
            columns = _checked(tree, self.inference).columns
            stage = DeltaStage(name=name, plan=_bare(self._block(tree, key)), columns=columns, key=key)
            self.found.append(stage)
            self.known[text] = stage
            self.inputs = {**self.inputs, name: InputInfo(append_only=False, primary_key=key)}
            self.inference = self.inference.with_ports({name: {column.name: column for column in columns}})
        return self.known[text]

    def _keyed(self, query: exp.Select) -> tuple[exp.Select, tuple[str, ...]]:
        """The query with columns of which no two of its rows have the same values; their names."""
        scope = scope_of(query)
        if query.args.get("group"):
            return _with_items(query, [_comparable(key) for key in group_keys(query) if not is_constant(key)])
        if folds_to_one(query):
            return _with_items(query, [])
        if query.args.get("distinct"):
            return query, tuple(dict.fromkeys(item.alias_or_name for item in query.selects))
        found = self._row_keys().unique(scope)
        if found:
            return query, _smallest(found)
        return _with_items(query, list(self._source_keys(scope)))

    def _row_keys(self) -> RowKeys:
        keys = {port: tuple(c.lower() for c in one.primary_key) for port, one in self.inputs.items()}
        return RowKeys(keys, self.inference.of_another_query())

    def _source_keys(self, scope: Scope) -> Iterator[exp.Expr]:
        """Columns that decide a row of a SELECT: the keys of all that it reads."""
        keys = self._row_keys()
        if scope.expression.args.get("laterals"):
            raise NotProvenError("rows of an inner query have no key: LATERAL VIEW makes several of one")
        try:
            sources = read_sources(scope)
        except TangledError as error:
            raise NotProvenError(str(error)) from error
        hidden = {j.alias_or_name for j in scope.expression.args.get("joins") or [] if j.kind in {"SEMI", "ANTI"}}
        for alias, source in sources.items():
            found = keys.unique(source)
            if alias not in hidden and not found:
                raise NotProvenError(f"rows of an inner query have no key, for those of {alias} have none")
            if alias not in hidden:
                yield from (exp.column(name, alias) for name in _smallest(found))

    def _block(self, tree: exp.Query, key: tuple[str, ...]) -> DeltaPlan:
        """The plan of a query over ports and stages."""
        plain = {name: name for name in _ports(tree, self.inputs)}
        found = self._of_ports(tree, key, plain)
        whole = {port for port in plain if found is None or not found.follows(port)}
        if not whole:
            return self._refused(tree, key, plain) if found is None else found  # one that reads no port has none
        apart = tree.copy()
        ports = plain | uses_apart(apart, whole)
        more = self._of_ports(apart, key, ports) if len(ports) > len(plain) else None
        if more is not None and (found is None or _unfollowed(more) < _unfollowed(found)):
            return more
        if found is None:
            return self._refused(tree, key, plain)
        return found

    def _of_ports(self, tree: exp.Query, key: tuple[str, ...], ports: Mapping[str, str]) -> DeltaPlan | None:
        try:
            return self._refused(tree, key, ports)
        except NotProvenError:
            return None

    def _refused(self, tree: exp.Query, key: tuple[str, ...], ports: Mapping[str, str]) -> DeltaPlan:
        inputs = {port: self.inputs[of] for port, of in ports.items()}
        inference = self.inference.with_ports({port: self.inference.columns_of(of) for port, of in ports.items()})
        folded = all(of.startswith(_STAGE) for of in ports.values())  # so that all rows are few enough to be one group
        plan = block_plan(_checked(tree, inference), inputs, key, as_one=folded)
        return plan.model_copy(update={"ports": dict(ports)})


def uses_apart(tree: exp.Query, names: set[str]) -> dict[str, str]:
    """Give each place that reads one of some ports a port of its own; changes the tree.

    Returns:
        Each further port → the port that it stands for.
    """
    numbers: dict[str, int] = {}
    found = {}
    for table in list(tree.find_all(exp.Table)):
        if table.name not in names:
            continue
        number = numbers[table.name] = numbers.get(table.name, -1) + 1
        if number:
            own, alias = table.name, table.alias_or_name
            found[f"{own}__{number}"] = own
            table.set("this", exp.to_identifier(f"{own}__{number}"))
            table.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
    return found


def _unfollowed(plan: DeltaPlan) -> int:
    return len({of for port, of in plan.ports.items() if not plan.follows(port)})


def _bare(plan: DeltaPlan) -> DeltaBlock:
    return DeltaBlock.model_validate({name: getattr(plan, name) for name in DeltaBlock.model_fields})


def _smallest(sets: list[frozenset[str]]) -> tuple[str, ...]:
    return min((tuple(sorted(names)) for names in sets), key=lambda names: (len(names), names))


def _ports(tree: exp.Query, inputs: Inputs) -> list[str]:
    return list(dict.fromkeys(table.name for table in tree.find_all(exp.Table) if table.name in inputs))


def _is_stage(query: exp.Select) -> bool:
    """Whether a SELECT folds, compares or cuts rows."""
    clauses = ("group", "distinct", "having", "limit", "offset", "qualify")
    return any(query.args.get(clause) for clause in clauses) or any(
        aggregates_in(item) or windows_in(item) for item in query.selects
    )


def _uncut(root: exp.Query) -> exp.Expr:
    """The SELECT that makes the groups of a query, if it has no LIMIT."""
    bare = root.copy()
    for clause in ("order", "limit", "offset"):
        bare.set(clause, None)
    depth = 0
    node: exp.Expr | None = peel(scope_of(bare))[0].expression
    while node is not bare and node is not None:
        depth += isinstance(node, exp.Query) and not isinstance(node, exp.Subquery)
        node = node.parent
    found: exp.Expr = root
    for _ in range(depth):
        found = found.args["from_"].this.this
    return found


def _over(query: exp.Query) -> exp.Select:
    """SELECT of all columns of a query, with its ORDER BY and LIMIT."""
    names = [item.alias_or_name for item in query.selects]
    outer = exp.select(*(exp.column(name, "__t") for name in names))
    for clause in ("order", "limit", "offset"):
        outer.set(clause, query.args.get(clause))
        query.set(clause, None)
    return outer.from_(query.subquery("__t"))


def _read(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name), alias=exp.TableAlias(this=exp.to_identifier(name)))


def _comparable(key: exp.Expr) -> exp.Expr:
    """A group key that a table can have as one: the start of a time window stands for the window, which is a struct."""
    return next(iter(bounds_of(key)), key)


def _with_items(query: exp.Select, items: list[exp.Expr]) -> tuple[exp.Select, tuple[str, ...]]:
    """The query with expressions among its columns, and their names; a constant where there are none."""
    shown = {text_of(item.unalias()): item.alias_or_name for item in query.selects}
    names = []
    for number, item in enumerate(items or [exp.Literal.number(0)]):
        name = shown.get(text_of(item)) if items else None
        if name is None:
            name = f"{_KEY}{number}"
            query.append("expressions", exp.alias_(item.copy(), name))
        names.append(name)
    return query, tuple(dict.fromkeys(names))


def _checked(tree: exp.Query, inference: Inference) -> CheckedQuery:
    """A part of a checked query."""
    types, scope = inference.of_another_query(), scope_of(tree)
    columns = []
    for column in types.outputs(scope):
        if column.type is None:
            raise NotProvenError(f"the type of {column.name} is not known")
        columns.append(Column(name=column.name, type=str(column.type), nullable=column.nullable))
    return CheckedQuery(tree, tuple(columns), {}, scope, types)
