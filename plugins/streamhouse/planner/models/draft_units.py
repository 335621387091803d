"""Whether SQL that a model wrote mixes units: in sums, comparisons, choices and unions; an unknown unit fits all."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.errors import UnitError
from streamhouse.planner.catalog import CatalogTable
from streamhouse.sql.choices import choices_of, given_to
from streamhouse.sql.dialect import short
from streamhouse.sql.scopes import function_name
from streamhouse.sql.words import words

_SAME_UNIT = words(
    """
    sum try_sum min max avg mean try_avg abs negative positive round bround ceil ceiling floor first last any_value
    median percentile percentile_cont percentile_disc percentile_approx approx_percentile mode max_by min_by
    first_value last_value nth_value std stddev stddev_samp stddev_pop array_max array_min element_at get try_element_at
    explode explode_outer array_agg collect_list collect_set sort_array array_sort array_distinct slice reverse flatten
    zeroifnull nullifzero array_compact filter
    """
)
"""Functions whose result has the unit of their first argument."""

_MIXED = words(
    """
    nullif array_append array_prepend array_union array_except array_intersect array_remove concat
    try_add try_subtract mod pmod
    """
)
"""Functions that give several of their arguments as one kind of thing, or a sum, a rest or a comparison of them."""

_COMPARED = words("equal_null array_contains array_position arrays_overlap")
"""Functions that compare their arguments."""

_ALIKE = (
    exp.Add | exp.Sub | exp.EQ | exp.NEQ | exp.NullSafeEQ | exp.NullSafeNEQ | exp.GT | exp.GTE | exp.LT | exp.LTE
    | exp.Mod
)  # fmt: skip
_PASSED = (
    exp.Paren | exp.Alias | exp.Cast | exp.TryCast | exp.Neg | exp.Filter | exp.Window | exp.Ordered | exp.Distinct
    | exp.IgnoreNulls | exp.RespectNulls | exp.WithinGroup | exp.Bracket
)  # fmt: skip


_Known = tuple[exp.Expr, str]


def check_units_of_sql(root: Scope, ports: Mapping[str, CatalogTable]) -> None:
    """Do nothing when all units fit.

    Args:
        root: Of a checked query: columns have qualifiers, its FROM names are ports.
        ports: Port → the table it reads.

    Raises:
        UnitError: numbers of two units are added, compared, or become values of one column.
    """
    for scope in root.traverse():
        units = _Units(scope, ports)
        for node in scope.walk():
            for values in _that_must_agree(node):
                units.agree(values)
        units.agree_in_branches()


def _that_must_agree(node: exp.Expr) -> Iterator[list[exp.Expr]]:
    """Groups of expressions of which each must have the unit of the others."""
    if isinstance(node, _ALIKE):
        yield [node.left, node.right]
    elif isinstance(node, exp.Between):
        yield [node.this, node.args["low"], node.args["high"]]
    elif isinstance(node, exp.In):
        query = node.args.get("query")
        yield [node.this, *node.expressions, *([query] if query is not None else [])]
    elif isinstance(node, exp.Case) and node.this is not None:
        yield [node.this, *(one.this for one in node.args["ifs"])]
    elif function_name(node) in _COMPARED:
        yield given_to(node)
    elif function_name(node) == "decode":
        yield [given_to(node)[0], *given_to(node)[1:-1:2]]
    yield from _columns_made(node)
    yield _results(node)


def _results(node: exp.Expr) -> list[exp.Expr]:
    """The expressions of which a node gives one, or a sum; empty: it is neither."""
    if isinstance(node, exp.Add | exp.Sub | exp.Mod):
        return [node.left, node.right]
    name, given = function_name(node), given_to(node)
    if name in _MIXED:
        return given
    if name in {"lag", "lead"}:
        return [*given[:1], *given[2:]]
    return choices_of(node) or []


def _columns_made(node: exp.Expr) -> list[list[exp.Expr]]:
    """Of `stack`, and of an array of structs, which UNPIVOT is: the values of each of the columns that it makes."""
    name, given = function_name(node), given_to(node)
    if name == "array" and len({len(given_to(one)) for one in given if function_name(one) == "named_struct"}) == 1:
        return [list(values) for values in zip(*(given_to(one)[1::2] for one in given), strict=False)]
    if name != "stack" or not given or not isinstance(given[0], exp.Literal) or not given[0].is_int:
        return []
    width = -(-len(given[1:]) // max(1, int(given[0].this)))
    return [given[1:][place::width] for place in range(width)]


def _that_differ(values: Iterable[tuple[exp.Expr, str | None]]) -> Iterator[tuple[_Known, _Known]]:
    """Each two values whose known units differ; case and blanks around a unit do not count."""
    known = [(value, unit) for value, unit in values if unit is not None]
    for one, other in combinations(known, 2):
        if one[1].strip().lower() != other[1].strip().lower():
            yield one, other


class _Units:
    """Units of the expressions of one scope."""

    def __init__(self, scope: Scope, ports: Mapping[str, CatalogTable]) -> None:
        self._scope, self._ports = scope, ports

    def agree(self, values: Iterable[exp.Expr]) -> None:
        """Refuse values of two units."""
        for (one, unit), (other, another) in _that_differ((value, self.of(value)) for value in values):
            raise UnitError(
                f"{short(one)} is in {unit} and {short(other)} in {another}: "
                "they cannot be added or compared, nor be values of one column",
                hint="convert one of them: multiply or divide it by a number",
            )

    def agree_in_branches(self) -> None:
        """Refuse a union whose columns have values of two units."""
        branches = [_Branch(part, self._ports) for part in self._scope.set_operation_scopes or ()]
        for place in range(min((len(branch.columns) for branch in branches), default=0)):
            values = ((branch.columns[place], branch.unit(place)) for branch in branches)
            for (one, unit), (other, another) in _that_differ(values):
                raise UnitError(
                    f"column {place + 1} of a union has {short(one)} in {unit} and {short(other)} in {another}",
                    hint="convert one of them, or give each a column of its own",
                )

    def of(self, node: exp.Expr | None) -> str | None:
        """The unit of a value; None: it has none, it was converted, or it is unknown."""
        if isinstance(node, exp.Column):
            return self._of_column(node)
        if isinstance(node, exp.Subquery | exp.Query):
            query = node.unnest()
            child = next((one for one in self._scope.subquery_scopes if one.expression is query), None)
            return _Branch(child, self._ports).unit(0) if child is not None else None
        if node is None:
            return None
        choices = _results(node)
        if choices:
            return next((unit for one in choices if (unit := self.of(one)) is not None), None)
        if isinstance(node, exp.Mul | exp.Div):
            return self.of(node.left) if _is_one(node.right) else None
        if isinstance(node, _PASSED):
            return self.of(node.this if node.this is not None else next(iter(node.expressions), None))
        if function_name(node) in _SAME_UNIT:
            return self.of(next(iter(given_to(node)), None))
        return None

    def _of_column(self, column: exp.Column) -> str | None:
        source = self._scope.sources.get(column.table)
        if isinstance(source, exp.Table):
            table = self._ports.get(source.name)
            return next((c.unit for c in table.columns if c.name == column.name), None) if table is not None else None
        if isinstance(source, Scope):
            branch = _Branch(source, self._ports)
            places = [place for place, name in enumerate(branch.names) if name == column.name]
            return branch.unit(places[0]) if places else None
        return None


class _Branch:
    """Output columns of a query, and their units."""

    def __init__(self, scope: Scope, ports: Mapping[str, CatalogTable]) -> None:
        self._scope, self._ports = scope, ports
        self.columns: list[exp.Expr] = scope.expression.selects if isinstance(scope.expression, exp.Query) else []
        self.names = [one.alias_or_name for one in self.columns]

    def unit(self, place: int) -> str | None:
        parts = self._scope.set_operation_scopes or ()
        if parts:
            found = (_Branch(part, self._ports).unit(place) for part in parts)
            return next((unit for unit in found if unit is not None), None)
        if place >= len(self.columns):
            return None
        return _Units(self._scope, self._ports).of(self.columns[place])


def _is_one(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and float(node.this) == 1
