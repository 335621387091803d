"""What a query or an example may not read stays unread in Spark too, whatever gets past our own reading of SQL."""

from pathlib import Path

import pytest

from streamhouse.errors import QueryRefusedError, StreamhouseError
from streamhouse.jobs.examples import run_examples
from streamhouse.registry.read_action import read_action
from streamhouse.spark.shut import OF_LIBRARIES
from streamhouse.spark.wall import refuse_all_but
from streamhouse.sql.admit import NOT_OF_VALUES
from tests.doors import CALLS, LITERALS, RELATIONS, STATEMENTS, filled
from tests.sql_corpus import queries

pytestmark = pytest.mark.spark

CANARY = "canary-7b1f"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    found = tmp_path_factory.mktemp("doors") / "canary.txt"
    found.write_text(f"{CANARY}\n")
    return found


@pytest.fixture(scope="module")
def session(spark):
    own = spark.newSession()
    own.range(2).selectExpr("CAST(id AS INT) AS id", "CAST(id AS STRING) AS name").createOrReplaceTempView("doors")
    return own


def _refusals():
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    return PySparkException, Py4JJavaError


def texts(file):
    return [text.replace("dwd.doors", "doors") for text in filled([*RELATIONS, *CALLS, *STATEMENTS], file)]


def test_spark_alone_reads_no_file_and_runs_no_code(session, file):
    """The session by itself, as if both of our walls had let the text pass."""
    home = str(Path.home())
    shown = []
    for text in texts(file):
        if text.startswith(("INSERT", "CREATE", "USE", "SET ", "RESET", "ADD", "BEGIN", "SELECT TRANSFORM")):
            continue  # these change the session, and only the walls refuse them
        try:
            rows = session.sql(text).limit(5).collect()
        except _refusals() as error:
            rows = str(error)
        if CANARY in str(rows) or (home in str(rows) and "reflect" in text):
            shown.append(text)
    assert not shown


def test_what_sparks_parser_reads_besides_tables_is_refused(session, file):
    passed = []
    for text in texts(file):
        try:
            refuse_all_but(["doors"], text, session)
        except (QueryRefusedError, *_refusals()):
            continue
        passed.append(text)
    # Of functions Spark has no longer any that does more than compute; a name that WITH gives is no table's anyway.
    of_values = {text.replace("dwd.doors", "doors") for text in filled(CALLS, file)}
    assert set(passed) <= of_values | {"WITH t AS (SELECT * FROM t) SELECT * FROM t"}


def test_the_functions_are_not_there(session):
    for name in sorted(NOT_OF_VALUES - OF_LIBRARIES):
        assert not session.sql(f"SHOW ALL FUNCTIONS LIKE '{name}'").collect(), name


@pytest.mark.parametrize("literal", LITERALS)
def test_no_variable_is_put_into_a_literal(session, literal):
    assert session.sql(f"SELECT '{literal}' AS v").collect()[0].v == literal
    assert session.range(1).selectExpr(f"'{literal}' AS v").collect()[0].v == literal


def test_a_session_cannot_be_opened_again(session, file):
    session.conf.set("spark.sql.runSQLOnFiles", "true")
    try:
        with pytest.raises(QueryRefusedError):
            refuse_all_but([], f"SELECT * FROM text.`{file}`", session)
    finally:
        session.conf.set("spark.sql.runSQLOnFiles", "false")


def test_what_people_ask_passes_the_wall(session):
    for text in queries():
        refuse_all_but(["lines", "p"], text, session)


ACTION = """\
/* ---
action: sly
step: clean
inputs: {{rows: {{id: int, name: string}}}}
examples:
  - {{given: {{rows: [{{id: 1, name: a}}]}}, expect: [{{name: {expected}}}]}}
--- */
SELECT {what} AS name FROM rows
"""


@pytest.mark.parametrize("call", CALLS)
def test_examples_run_nothing_that_a_flow_could_not(spark, call, file):
    what = call.removeprefix("SELECT ").partition(" FROM ")[0].replace("{file}", str(file))
    try:
        action = read_action(ACTION.format(what=what, expected="x"), "actions/sly.sql").action
    except StreamhouseError:
        return
    (result,) = run_examples(spark, action)
    assert result.error is not None, what
    assert CANARY not in str(result)


@pytest.mark.parametrize("literal", LITERALS)
def test_literals_of_examples_are_text(spark, literal, monkeypatch):
    monkeypatch.setenv("STREAMHOUSE_CANARY", CANARY)
    action = read_action(ACTION.format(what=f"'{literal}'", expected=f"'{literal}'"), "actions/sly.sql").action
    (result,) = run_examples(spark, action)
    assert result.passed, result
