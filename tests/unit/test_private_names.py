"""What is private to Spark, py4j, pypaimon, Iceberg's Java and Airflow is used in its room alone.

So a change of a version has one place to look at. A name is private when it begins with one underscore, or lies in a
module that the project's own documents do not list.
"""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.parsed import nodes_of
from tests.tables import each

PLUGINS = Path(__file__).parents[2] / "plugins"
SOURCES = sorted(PLUGINS.rglob("*.py"))
ROOMS = (
    "streamhouse/spark/",
    "streamhouse/capture/java.py",
    "streamhouse/stores/iceberg/java.py",
    "streamhouse/stores/paimon/java.py",
    "streamhouse/stores/paimon/private.py",
    "streamhouse/orchestrator/airflow_private.py",
)

# Refused in whatever form they come, also as a text that is no docstring.
_OF_SPARK = frozenset(
    {
        *("_active_spark_context", "_ensure_initialized", "_gateway", "_gateway_client", "_java_obj", "_jconf", "_jdf"),
        *("_jcontext", "_jreader", "_jrdd", "_jsc", "_jschema", "_jsparkSession", "_jsq", "_jvm", "_jwrite", "_sc"),
        *("_load_from_socket", "local_connect_and_auth", "_serialize_to_jvm", "_to_java_column"),
    }
)
_OF_PYPAIMON = frozenset({"_create_follow_up_plan", "_overwrite_changes_provider", "_try_commit", "_with_commit_user"})
NAMES = _OF_SPARK | _OF_PYPAIMON
MODULES = (
    *("py4j", "pyspark.java_gateway", "pyspark.util", "pyspark.serializers", "pyspark.daemon", "pyspark.worker"),
    *(
        "pyspark.core",
        "pyspark.sql.pandas",
        "pyspark.sql.classic",
        "pyspark.errors.exceptions",
        "pyspark.traceback_utils",
    ),
    *("airflow.models", "airflow.sdk.execution_time", "airflow.serialization", "airflow.utils", "airflow.settings"),
    "streamhouse.spark.jvm",  # the doors: for rooms alone
)
CLASSES = (
    "org.apache.spark.",
    "org.apache.hadoop.",
    "com.globalmentor.",
)  # of a JVM, by name; settings of tables are public
_PACKAGES = {"org": {"apache"}, "java": {"io", "lang", "net", "nio", "time", "util"}, "scala": {"collection", "Option"}}
# Rows that nobody counts; see `spark/results.py`.
_COLLECTS = {"collect", "toArrow", "toPandas", "toLocalIterator"}
_READS = {"getattr", "setattr", "hasattr", "delattr", "attrgetter", "methodcaller"}

# Private names of others that have no room, each where it may be used and why.
ALLOWED = {
    ("streamhouse/cli/main.py", "_run_exitfuncs"),  # Python's own: what is registered runs, and nothing waits after it
    ("streamhouse/cli/main.py", "_exit"),  # documented
    ("streamhouse/cli/mcp.py", "_exit"),
    ("streamhouse/host/runner.py", "_exit"),
    ("streamhouse/ingest/kafka_topic.py", "_AUTO_OFFSET_RESET"),  # error codes of librdkafka, which are documented so
    ("streamhouse/ingest/kafka_topic.py", "_AUTHENTICATION"),
    ("streamhouse/ingest/kafka_topic.py", "_SSL"),
    ("streamhouse/ingest/kafka_topic.py", "_INVALID_ARG"),
    ("streamhouse/ingest/kafka_topic.py", "_UNKNOWN_TOPIC"),
    ("streamhouse/ingest/kafka_topic.py", "_PARTITION_EOF"),
    ("streamhouse/sql/dialect/__init__.py", "_meta"),  # of sqlglot: its `meta` makes a dict at each look
    ("streamhouse/stores/iceberg/rest_client.py", "_config_headers"),  # of pyiceberg, which has no other door
}


# A tuple: `isinstance(node, A | B)` makes a union each time, for a million nodes.
_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LOOKED_AT = (ast.Import, ast.ImportFrom, ast.Attribute, ast.Call, ast.Constant)


def refused(text: str, path: str = "streamhouse/engine/some.py") -> list[str]:
    """What a module of ours may not use, each as `line: what`."""
    nodes = nodes_of(text)
    own = set(_defined(nodes))
    docs = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    found = []
    for node in nodes:
        for what in _used(node, docs) if isinstance(node, _LOOKED_AT) else ():
            name = what.rpartition(".")[2]
            if what in own or (path, name) in ALLOWED:
                continue
            found.append(f"{getattr(node, 'lineno', 0)}: {what}")
    return found


def _used(node: ast.AST, docs: set[int]) -> Iterator[str]:
    """Names that a node uses and that are refused, unless the module itself defines them."""
    if isinstance(node, ast.Import):
        yield from (f"import {alias.name}" for alias in node.names if _is_closed(alias.name))
    elif isinstance(node, ast.ImportFrom):
        yield from _imported(node)
    elif isinstance(node, ast.Attribute):
        yield from _read(node)
    elif isinstance(node, ast.Call) and not node.args and not node.keywords and _called(node) in _COLLECTS:
        yield from () if ast.unparse(node) == "gc.collect()" else (f"the call {_called(node)}()",)
    elif isinstance(node, ast.Call) and _called(node) in _READS:
        yield from _asked(node)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
        if node.value in NAMES:
            yield f"the text {node.value}"
        if node.value.startswith(CLASSES) or _is_closed(node.value):
            yield f"the text {node.value}"


def _imported(node: ast.ImportFrom) -> Iterator[str]:
    module = node.module or ""
    for alias in node.names:
        foreign = module.partition(".")[0] in ("pyspark", "py4j", "pypaimon", "pypaimon_rust", "airflow", "pyiceberg")
        if _is_closed(module) or _is_closed(f"{module}.{alias.name}") or (foreign and _is_private(alias.name)):
            yield f"from {module} import {alias.name}"


def _read(node: ast.Attribute) -> Iterator[str]:
    if isinstance(node.value, ast.Attribute) and node.attr in _PACKAGES.get(node.value.attr, ()):
        yield f"the Java package {node.value.attr}.{node.attr}"
    if node.attr in NAMES or node.attr == "jvm":
        yield f"the attribute {node.attr}"
    elif _is_private(node.attr) and not _is_own(node.value):
        yield node.attr


def _asked(node: ast.Call) -> Iterator[str]:
    """By `getattr` and its like: a private name, or one that is put together with an underscore before it."""
    values = node.args if _called(node) in ("attrgetter", "methodcaller") else node.args[1:2]
    for value in values:
        first = value.left if isinstance(value, ast.BinOp) else value
        first = first.values[0] if isinstance(first, ast.JoinedStr) and first.values else first
        text = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
        if any(_is_private(part) for part in text.split(".")) and not (value is first and _is_own(node.args[0])):
            yield text if value is first else f"a name that begins with {text}"


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _is_own(base: ast.expr) -> bool:
    return isinstance(base, ast.Name) and base.id in ("self", "cls")


def _is_closed(module: str) -> bool:
    return any(module == one or module.startswith(f"{one}.") for one in MODULES)


def _defined(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Names that a module gives to what is its own: functions, classes, fields, and what it sets on `self`."""
    for node in nodes:
        if isinstance(node, _DEFINES):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_own(node.value):
            yield node.attr
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def relative(file: Path) -> str:
    return file.relative_to(PLUGINS).as_posix()


def test_no_private_name_outside_its_room() -> None:
    outside = [file for file in SOURCES if not relative(file).startswith(ROOMS)]
    found = {relative(file): refused(file.read_text(), relative(file)) for file in outside}
    assert {file: names for file, names in found.items() if names} == {}


def test_rooms_and_exceptions_are_there_and_used() -> None:
    for room in ROOMS:
        assert (PLUGINS / room).exists()
    for path, name in ALLOWED:
        assert name in (PLUGINS / path).read_text()
    assert any(refused(file.read_text(), relative(file)) for file in SOURCES if relative(file).startswith(ROOMS[0]))


@each(
    "text",
    [
        "spark._jvm.java.lang.System.gc()",
        "frame._jdf.collectAsArrowToPython()",
        "self.spark._jsparkSession.sessionState()",
        "self._jvm = spark.sparkContext",
        "SparkContext._active_spark_context",
        "SparkContext._gateway.proc",
        "context._jsc.sc()",
        "gateway.jvm.System.gc()",
        'getattr(frame, "_jdf")',
        'getattr(spark, "_j" + "vm")',
        "getattr(spark, f'_j{kind}')",
        'attrgetter("sparkContext._jvm")(spark)',
        'operator.attrgetter("_jdf")(frame)',
        'vars(spark)["_jvm"]',
        'object.__getattribute__(spark, "_jsparkSession")',
        'door = "_jvm"',
        "import py4j.java_gateway",
        "from py4j.protocol import Py4JError",
        'importlib.import_module("py4j.protocol")',
        "from pyspark import util",
        "from pyspark.util import local_connect_and_auth",
        "from pyspark.sql.pandas.serializers import ArrowCollectSerializer",
        "from pyspark.sql.utils import _something",
        "from streamhouse.spark.jvm import java_package",
        "from streamhouse.spark import jvm",
        "commit.file_store_commit._try_commit()",
        "handle.new_stream_write_builder()._with_commit_user(user)",
        "scan._any_other_private_name()",
        "java.org.apache.iceberg.DataFiles",
        "x.java.util.ArrayList()",
        'conf["k"] = "org.apache.spark.sql.execution.streaming.Source"',
        "from airflow.sdk.execution_time.hitl import upsert_hitl_detail",
        "from airflow.models import TaskInstance",
        "task_instance._rendered",
        "def _jvm(): ...\nspark._jvm",
        "frame.toArrow()",
        "rows.limit(1).collect()",
    ],
)
def test_a_private_name_is_seen(text: str) -> None:
    assert refused(text) != []


@pytest.mark.parametrize(
    "text",
    [
        '"""Says `_jvm` and py4j.protocol."""',
        "self._rows = 1\nother._rows",
        "class A:\n    def _key(self): ...\n    def same(self, other): return other._key()",
        "collected_arrow(frame)",
        "gc.collect()",
        "from pyspark.sql import functions as F",
        "import py4java",
        'getattr(tiers, "hot")',
        "x.__dict__",
        'catalog = "org.apache.iceberg.spark.SparkCatalog"',
    ],
)
def test_what_is_public_or_our_own_passes(text: str) -> None:
    assert refused(text) == []
