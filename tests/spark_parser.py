"""Spark's own parser, without a session: what it reads a text as, told so that equal queries compare equal."""

import json
from typing import Any
from unittest.mock import patch

from py4j.protocol import get_return_value

from streamhouse.sql.words import words
from tests.patience import PATIENCE_S

_SAME_FUNCTION = {
    "position": "locate",
    "var_samp": "variance",
    "char_length": "length",
    "mean": "avg",
    "some": "bool_or",
}
_UNITS = words(
    """
    year years y yr yrs yearofweek quarter qtr month months mon mons week weeks w day days d dayofweek dow
    dayofweek_iso dow_iso doy hour hours h hr hrs minute minutes m min mins second seconds s sec secs
    """
)
_HIDDEN = {"exprId", "origin", "id", "jvmId", "planId"}


class SparkParser:
    """`SparkSqlParser` in a JVM of its own; `close` ends it."""

    def __init__(self) -> None:
        from pyspark.java_gateway import launch_gateway

        self._gateway = launch_gateway()  # type: ignore[no-untyped-call]
        self._parser = self._gateway.jvm.org.apache.spark.sql.execution.SparkSqlParser()

    def close(self) -> None:
        """End the JVM."""
        self._gateway.shutdown()
        self._gateway.proc.stdin.close()
        self._gateway.proc.wait(PATIENCE_S)

    def plan(self, sql: str) -> str | None:
        """The plan of a text, as comparable JSON; None: Spark refuses it.

        Left out is what means the same: CROSS JOIN and a comma, IS NOT NULL and NOT … IS NULL, an operator and the
        function of that name, the case of names of functions and of units of time.
        """
        from py4j.protocol import Py4JJavaError

        try:
            tree = self._parsed(sql)
            return json.dumps(_plain(json.loads(tree.toJSON())), sort_keys=True)
        except Py4JJavaError:
            return None

    def _parsed(self, sql: str) -> Any:
        # A Spark session of this process translates errors of every JVM, and asks its own one about them.
        with patch("py4j.java_gateway.get_return_value", get_return_value):
            return self._parser.parsePlan(sql)

    def refusal(self, sql: str) -> str | None:
        """Why Spark does not read a text; None: it does."""
        from py4j.protocol import Py4JJavaError

        try:
            self._parsed(sql)
        except Py4JJavaError as error:
            return str(error.java_exception.getMessage()).strip().partition("\n")[0]
        return None


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [one for part in value for one in _spelled(_plain(part))]
    if isinstance(value, dict):
        plain = {key: _plain(part) for key, part in value.items() if key not in _HIDDEN}
        return {**plain, "funcName": str(plain["funcName"]).lower()} if "funcName" in plain else plain
    return value


def _spelled(node: Any) -> list[Any]:
    if not isinstance(node, dict):
        return [node]
    kind = str(node.get("class", "")).rpartition(".")[2]
    if kind == "IsNotNull":
        return [{"class": "Not"}, {"class": "IsNull"}]
    if kind in ("Not", "IsNull"):
        return [{"class": kind}]
    if kind == "Literal" and node.get("dataType") == "binary":
        return [{"class": kind, "dataType": "binary"}]  # its value is told as the address of an array
    if kind in ("UnresolvedTableValuedFunction", "UnresolvedTVFAliases"):
        return [{**node, "name": str(node["name"]).lower()}]
    if kind == "UnresolvedAttribute" and str(node["nameParts"]).lower() == "[all]":
        return [{**node, "nameParts": "[all]"}]
    if kind.startswith("IsUnknown"):
        return [{"class": "IsNull"}]
    if kind.startswith("IsNotUnknown"):
        return [{"class": "Not"}, {"class": "IsNull"}]
    if kind in ("UnaryPositive", "ShiftLeft", "ShiftRight"):
        name = {"UnaryPositive": "positive"}.get(kind, kind.lower())
        return [{"class": "call", "name": name, "distinct": False, "filter": None}]
    if kind == "UnresolvedFunction":
        name = str(node["nameParts"]).strip("[]").lower()
        told = {"distinct": node.get("isDistinct"), "filter": node.get("filter"), "nulls": node.get("ignoreNulls")}
        told = told if name not in ("positive", "shiftleft", "shiftright") else {"distinct": False, "filter": None}
        return [{"class": "call", "name": _SAME_FUNCTION.get(name, name), **told}]
    if kind == "Literal" and str(node.get("value")).lower() in _UNITS:
        return [{**node, "value": str(node["value"]).lower()}]
    if kind in ("Join", "LateralJoin"):
        inner = "Cross" in json.dumps(node.get("joinType"))
        condition = node.get("condition")
        always = isinstance(condition, list) and len(condition) == 1 and condition[0].get("value") == "true"
        joined = {**node, "condition": None if always else condition}
        return [{**joined, "joinType": "inner"} if inner or "Inner" in json.dumps(node.get("joinType")) else joined]
    return [node]
