"""A step is tried on a sample: in epochs and as one batch it must give equal tables."""

import pyarrow as pa
import pytest

from streamhouse.jobs.trial import EPOCHS, TrialSample, try_step
from streamhouse.model.flow import Read, Step
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.types import ReadMode
from streamhouse.project.project import Project
from streamhouse.registry.read_action import read_action

pytestmark = [pytest.mark.spark]

HEADER = "/* ---\naction: by_city\nstep: aggregate\ninputs: {inputs}\noutput: {{primary_key: [{key}]}}\n--- */\n{sql}\n"
ORDERS = Table(
    name="dwd.orders",
    columns=(
        Column(name="order_id", type="bigint"),
        Column(name="city", type="string"),
        Column(name="cents", type="bigint"),
    ),
    primary_key=("order_id",),
    tiers=Tiers(hot="1h"),
)
CITIES = Table(
    name="ods.cities",
    columns=(Column(name="city", type="string"), Column(name="country", type="string")),
    primary_key=("city",),
    tiers=Tiers(hot="1h"),
)
COLUMNS = "orders: {order_id: bigint, city: string, cents: bigint}"


@pytest.fixture
def project(tmp_path):
    (tmp_path / "flows").mkdir()
    return Project.at(tmp_path)


def samples(rows=90):
    orders = {
        "order_id": list(range(rows)),
        "city": [f"c{n % 7}" if n % 11 else None for n in range(rows)],
        "cents": [n * 37 % 100 for n in range(rows)],
    }
    cities = {"city": [f"c{n}" for n in range(5)], "country": ["a", "b", "a", None, "b"]}
    return {"dwd.orders": TrialSample(ORDERS, pa.table(orders)), "ods.cities": TrialSample(CITIES, pa.table(cities))}


def tried(project, sql, key="city", inputs=COLUMNS, reads=None, rows=90):
    text = HEADER.format(sql=sql, key=key, inputs=f"{{{inputs}}}")
    action = read_action(text, "actions/by_city.sql").action
    step = Step(use="by_city", reads=reads or {"orders": Read(table="dwd.orders")}, writes="dws.by_city")
    read = {one.table for one in step.reads.values()}
    given = {name: one for name, one in samples(rows).items() if name in read}
    return try_step(project, step, action, text, given)


def test_a_sum_is_the_same_in_epochs_and_as_one_batch_though_rows_are_updated_in_between(project):
    trial = tried(
        project, "SELECT city, SUM(cents) AS cents, COUNT(*) AS n FROM orders WHERE city IS NOT NULL GROUP BY city"
    )
    assert trial.passed, str(trial)
    assert trial.epochs >= EPOCHS
    assert (trial.read, trial.rows) == (90, 7)
    assert not list((project.state_dir / "trials").iterdir())


def test_a_result_that_depends_on_the_epochs_is_found(project):
    sql = "SELECT order_id AS city, COUNT(*) AS n, MIN(CURRENT_TIMESTAMP()) AS seen FROM orders GROUP BY order_id"
    trial = tried(project, sql)
    assert not trial.passed
    assert "epochs and batch differ; only in the batch: {'city': " in str(trial)


def test_a_step_that_is_refused_says_why(project):
    trial = tried(project, "SELECT city, MAX(uuid()) AS any FROM orders GROUP BY city")
    assert not trial.passed
    assert "the trial failed: " in str(trial)
    assert "uuid" in str(trial)


def test_a_lookup_is_read_first(project):
    sql = "SELECT country, SUM(cents) AS cents FROM orders JOIN cities USING (city) WHERE country > '' GROUP BY country"
    reads = {"orders": Read(table="dwd.orders"), "cities": Read(table="ods.cities", mode=ReadMode.LOOKUP)}
    inputs = f"{COLUMNS}, cities: {{city: string, country: string}}"
    trial = tried(project, sql, "country", inputs, reads)
    assert trial.passed, str(trial)


def test_a_sample_that_is_too_small_is_not_called_a_success(project):
    trial = tried(project, "SELECT city, COUNT(*) AS n FROM orders WHERE city IS NOT NULL GROUP BY city", rows=1)
    assert not trial.passed
    assert "too small" in str(trial)


def test_a_trial_leaves_the_spark_session_of_its_process_alone(spark, project):
    tried(project, "SELECT city, SUM(cents) AS cents FROM orders WHERE city IS NOT NULL GROUP BY city")
    assert spark.range(3).count() == 3
