"""What the README shows is true: its action and flow compile, and its error is the one that is told."""

import re
from pathlib import Path

import pytest

from streamhouse.compiler import compile_flow
from streamhouse.errors import UnknownActionError
from streamhouse.model.table import Column
from streamhouse.registry import Registry

README = (Path(__file__).parents[2] / "README.md").read_text()
INGEST = """\
/* ---
action: ingest_orders
step: ingest
inputs: {rows: {}}
--- */
SELECT * FROM rows
"""
REVENUE = """\
/* ---
action: revenue_by_product
step: aggregate
inputs: {orders: {order_id: bigint, amount_cents: bigint}}
--- */
SELECT order_id, SUM(amount_cents) AS revenue_cents FROM orders GROUP BY order_id
"""
COLUMNS = {"order_id": "bigint", "amount": "decimal(12,2)", "updated_at": "timestamp"}


def block(language):
    return re.search(rf"```{language}\n(.*?)```", README, re.DOTALL).group(1)


@pytest.fixture
def project(tmp_path):
    files = {"actions/a.sql": INGEST, "actions/b.sql": REVENUE, "actions/c.sql": block("sql")}
    for name, text in (files | {"flows/orders.yaml": block("yaml")}).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def compiled(project):
    registry = Registry.load(project)
    columns = tuple(Column(name=name, type=kind) for name, kind in COLUMNS.items())
    return compile_flow(registry.flow("orders"), registry, {"orders": columns})


def test_a_stranger_reads_it_in_a_few_minutes():
    assert len(README.splitlines()) <= 150
    [picture] = re.findall(r"!\[[^]]+\]\(([^)]+)\)", README)
    assert (Path(__file__).parents[2] / picture).is_file()


def test_the_example_compiles(project):
    assert [step.id for step in compiled(project).steps] == ["ods.orders", "dwd.orders", "dws.revenue_by_product"]


def test_the_error_is_told_as_shown(project):
    flow = project / "flows" / "orders.yaml"
    flow.write_text(flow.read_text().replace("use: clean_orders", "use: clean_oders"))
    with pytest.raises(UnknownActionError) as refused:
        compiled(project)
    assert f"{refused.value}\n" in README
