"""Finds verdicts by the clock and by chance in the text of a test module: its outcome is the same on a slow machine.

Only `tests.patience` reads a clock that waits.
"""

import ast
import re
from collections.abc import Iterator

SHORT_S = 0.2
"""Up to so long a test may sleep between two looks, or wait for what is not to come."""

ALLOWED = {
    ("tests/ports.py", "random.SystemRandom()"): "two runs at once are to look at different ports first; any is right",
    ("tests/gate/leftovers.py", "_GRACE_S"): "each process that a test leaves behind would cost minutes",
}
"""A module and a part of its line to the reason why it may stand there."""

_TIMERS = frozenset(
    name + unit for name in ("monotonic", "perf_counter", "process_time", "thread_time") for unit in ("", "_ns")
) | {"default_timer", "clock_gettime", "clock_gettime_ns"}
_NOW = frozenset({"time.time", "time.time_ns", "datetime.now", "datetime.utcnow", "os.times"})
_SPAN = re.compile(r"^(took|elapsed|duration|lasted|spent)(_?(s|ms|ns|seconds))?$")
_VERDICTS = (ast.Assert, ast.If, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_LIMIT = frozenset({"timeout", "timeout_s", "timeout_ms", "wait_s", "within_s"})
_LIMIT_IS_FIRST = frozenset({"wait", "join", "result", "awaitTermination"})
_PATIENCE = "PATIENCE_S"
_SEEDED = frozenset({"Random", "default_rng", "RandomState"})
_NOT_DRAWN = _SEEDED | {"getstate", "setstate", "seed"}


def findings(text: str) -> list[str]:
    """Each place of a module whose outcome depends on the speed of the machine, or on chance, as `line: words`."""
    module = _Module(ast.parse(text))
    found = {*module.timers(), *module.spans(), *module.sleeps(), *module.limits(), *module.chance()}
    return [f"{line}: {words}" for line, words in sorted(found)]


def refused(path: str, text: str) -> list[str]:
    """As `findings`, without those that `ALLOWED` names."""
    lines = text.splitlines()
    allowed = [part for module, part in ALLOWED if module == path]
    return [one for one in findings(text) if not any(part in lines[int(one.partition(":")[0]) - 1] for part in allowed)]


class _Module:
    def __init__(self, tree: ast.Module) -> None:
        self.nodes = list(ast.walk(tree))
        self.names = dict(_imported(self.nodes))
        self.numbers = dict(_numbers(tree))
        self.reads = any(isinstance(node, ast.Call) and self.reads_clock(node) for node in self.nodes)

    def timers(self) -> Iterator[tuple[int, str]]:
        for node in self.nodes:
            if isinstance(node, ast.Attribute) and node.attr in _TIMERS:
                yield node.lineno, f"reads the clock {node.attr}"
            if isinstance(node, ast.ImportFrom) and node.module in {"time", "timeit"}:
                for one in node.names:
                    if one.name in _TIMERS:
                        yield node.lineno, f"imports the clock {one.name}"

    def spans(self) -> Iterator[tuple[int, str]]:
        for nodes in self.scopes():
            verdicts = [node for node in nodes if isinstance(node, _VERDICTS)]
            if not verdicts:
                continue
            times = _Times(nodes, self)
            for node in verdicts:
                # A loop until a moment is a wait, even if nothing fails in it.
                if isinstance(node, ast.While) and times.has_deadline(node.test):
                    yield node.lineno, "a wait of its own"
                if _fails(node) and (times.compares_span(node.test) or times.has_deadline(node.test)):
                    yield node.lineno, "a verdict by the time that passed"

    def scopes(self) -> Iterator[list[ast.AST]]:
        """The nodes of the module, and of each function: what a name is in one, it need not be in another.

        Where no clock is read there are no moments to give names to, and the module as a whole says all.
        """
        yield self.nodes
        if self.reads:
            yield from (list(ast.walk(node)) for node in self.nodes if isinstance(node, _FUNCTIONS))

    def reads_clock(self, node: ast.expr) -> bool:
        name = self.name(node.func) if isinstance(node, ast.Call) else ""
        return ".".join(name.split(".")[-2:]) in _NOW or name.rpartition(".")[2].lstrip("?") in _TIMERS

    def sleeps(self) -> Iterator[tuple[int, str]]:
        for node in self.nodes:
            if isinstance(node, ast.Call) and self.name(node.func).endswith("sleep") and node.args + node.keywords:
                first = node.args[0] if node.args else node.keywords[0].value
                if not self.is_short(first):
                    yield node.lineno, f"sleeps {ast.unparse(first)} s"
            # The result of such a wait is not asked for: it is a sleep.
            call = node.value if isinstance(node, ast.Expr) else None
            call = call.value if isinstance(call, ast.Await) else call
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "wait":
                for limit in (*call.args[:1], *(one.value for one in call.keywords if one.arg in _LIMIT)):
                    if not self.is_short(limit) and _PATIENCE not in ast.unparse(limit):
                        yield call.lineno, f"waits {ast.unparse(limit)} s for nothing"

    def limits(self) -> Iterator[tuple[int, str]]:
        for call in self.nodes:
            if not isinstance(call, ast.Call):
                continue
            limits = [one.value for one in call.keywords if one.arg in _LIMIT]
            if isinstance(call.func, ast.Attribute) and call.func.attr in _LIMIT_IS_FIRST:
                limits += call.args[:1]
            for limit in limits:
                number = self.number(limit)
                if number is not None and number > SHORT_S:
                    yield limit.lineno, f"gives up after {ast.unparse(limit)}, not after {_PATIENCE}"

    def chance(self) -> Iterator[tuple[int, str]]:
        for call in self.nodes:
            if not isinstance(call, ast.Call):
                continue
            name = self.name(call.func)
            last = name.rpartition(".")[2]
            if name.endswith("random.SystemRandom"):
                yield call.lineno, "draws what nobody can draw again"
            elif last in _SEEDED and "random." in f".{name}" and _is_unseeded(call):
                yield call.lineno, f"{last} without a seed"
            elif name.startswith(("random.", "numpy.random.")) and last[:1].islower() and last not in _NOT_DRAWN:
                yield call.lineno, f"draws from what all modules share: {name}"

    def name(self, node: ast.expr) -> str:
        """What a call names, with its modules, whatever an import calls it here; `?` is before what is no import."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id, f"?{node.id}")
        if isinstance(node, ast.Attribute):
            return f"{self.name(node.value)}.{node.attr}"
        return ""

    def number(self, node: ast.expr) -> float | None:
        """The number that an expression is, if that can be told without running it."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return float(node.value)
        if isinstance(node, ast.Name):
            return self.numbers.get(node.id)
        if isinstance(node, ast.BinOp):
            sides = [self.number(node.left), self.number(node.right)]
            return None if None in sides else max(one for one in sides if one is not None)
        return None

    def is_short(self, node: ast.expr) -> bool:
        number = self.number(node)
        return number is not None and number <= SHORT_S


class _Times:
    """Which names of a function are moments of its clock, moments to come, and spans between two moments."""

    def __init__(self, nodes: list[ast.AST], module: _Module) -> None:
        self.module = module
        self.moments: set[str] = set()
        self.deadlines: set[str] = set()
        self.lengths: set[str] = set()
        if not module.reads:
            return
        named = [node for node in nodes if isinstance(node, ast.Assign | ast.AugAssign | ast.NamedExpr | ast.Call)]
        for _ in range(3):  # a name may be made from one that is assigned later in the text, in a loop
            before = self._known()
            for one in named:
                self._learn(one)
            if self._known() == before:
                break

    def _known(self) -> int:
        return len(self.moments) + len(self.deadlines) + len(self.lengths)

    def _learn(self, node: ast.Assign | ast.AugAssign | ast.NamedExpr | ast.Call) -> None:
        if isinstance(node, ast.Call):  # spans.append(...)
            function = node.func
            into = isinstance(function, ast.Attribute) and function.attr == "append" and node.args
            pairs = [(function.value, node.args[0])] if into and isinstance(function, ast.Attribute) else []
        elif isinstance(node, ast.Assign):
            pairs = [pair for target in node.targets for pair in _pairs(target, node.value)]
        else:
            pairs = [(node.target, node.value)]
        for target, value in pairs:
            if not isinstance(target, ast.Name):
                continue
            if self.is_span(value):
                self.lengths.add(target.id)
            elif self.is_deadline(value):
                self.deadlines.add(target.id)
            elif self.is_moment(value):
                self.moments.add(target.id)

    def compares_span(self, test: ast.expr) -> bool:
        return any(self.is_span(side) or self._is_called_span(side) for side in self._compared(test))

    def has_deadline(self, test: ast.expr) -> bool:
        sides = list(self._compared(test))
        return any(self.is_deadline(side) for side in sides) and any(self.module.reads_clock(side) for side in sides)

    def _compared(self, test: ast.expr) -> Iterator[ast.expr]:
        for node in ast.walk(test):
            if isinstance(node, ast.Compare) and any(isinstance(one, _ORDERED) for one in node.ops):
                yield from (node.left, *node.comparators)

    def _is_called_span(self, node: ast.expr) -> bool:
        return any(isinstance(one, ast.Name | ast.Attribute) and _SPAN.match(_last(one)) for one in ast.walk(node))

    def is_span(self, node: ast.expr) -> bool:
        for one in ast.walk(node):
            if isinstance(one, ast.Name) and one.id in self.lengths:
                return True
            if not isinstance(one, ast.BinOp) or not isinstance(one.op, ast.Sub):
                continue
            if self.is_moment(one.right) or (self.is_moment(one.left) and not self._is_length(one.right)):
                return True
        return False

    def is_deadline(self, node: ast.expr) -> bool:
        for one in ast.walk(node):
            if isinstance(one, ast.Name) and one.id in self.deadlines:
                return True
            if not isinstance(one, ast.BinOp) or not isinstance(one.op, ast.Add):
                continue
            if self.is_moment(one.left) or self.is_moment(one.right):
                return True
        return False

    def is_moment(self, node: ast.expr) -> bool:
        """Whether it is a moment of the clock itself, and not something that was made at a moment."""
        if isinstance(node, ast.Name):
            return node.id in self.moments
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "timestamp":
            return self.is_moment(node.func.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"int", "round", "float"}:
            return any(self.is_moment(one) for one in node.args)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.FloorDiv | ast.Div):
            return self.is_moment(node.left)
        if isinstance(node, ast.Attribute):
            return self.is_moment(node.value)
        return self.module.reads_clock(node)

    def _is_length(self, node: ast.expr) -> bool:
        """Whether a moment less this is another moment: a number, a timedelta, a constant of the module."""
        if isinstance(node, ast.BinOp):
            return self._is_length(node.left) or self._is_length(node.right)
        if isinstance(node, ast.Call):
            return self.module.name(node.func).rpartition(".")[2] == "timedelta"
        return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id.isupper())


def _imported(nodes: list[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            for one in node.names:
                yield (one.asname, one.name) if one.asname else (one.name.partition(".")[0],) * 2
        if isinstance(node, ast.ImportFrom):
            yield from ((one.asname or one.name, f"{node.module}.{one.name}") for one in node.names)


def _numbers(tree: ast.Module) -> Iterator[tuple[str, float]]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            for target in node.targets:
                if isinstance(target, ast.Name) and isinstance(node.value.value, int | float):
                    yield target.id, float(node.value.value)


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _fails(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return True
    return isinstance(node, ast.If | ast.While) and any(
        isinstance(one, ast.Raise | ast.Assert) or (isinstance(one, ast.Call) and _last(one.func) == "fail")
        for statement in node.body
        for one in ast.walk(statement)
    )


def _last(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _is_unseeded(call: ast.Call) -> bool:
    given = [*call.args, *(one.value for one in call.keywords)]
    return not given or (isinstance(given[0], ast.Constant) and given[0].value is None)
