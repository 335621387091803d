import json
import os
import subprocess
import sys

import pytest

from streamhouse.cli.init import write_project
from streamhouse.cli.main import main


@pytest.fixture
def project(tmp_path, monkeypatch):
    write_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def change(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_a_sound_project(project, capsys):
    assert main(["validate"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("3 actions and 1 flow: no errors")
    assert err == ""


def test_every_error_is_told_with_its_place_and_remedy(project, capsys):
    change(project / "flows" / "orders.yaml", "use: clean_orders", "use: clean_oders")
    change(project / "actions" / "revenue_by_product.sql", "step: aggregate", "stp: aggregate")
    assert main(["validate"]) == 3
    out, err = capsys.readouterr()
    assert "actions/revenue_by_product.sql:3:1: SH102 unknown key 'stp'\n  hint: did you mean 'step'?" in err
    assert "flows/orders.yaml:11:11: SH201 unknown action 'clean_oders'\n  hint: did you mean 'clean_orders'?" in err
    assert err.count("SH102") == 1
    assert out.endswith("errors in 2 files\n")


def test_a_flow_in_the_limits_of_the_autopilot_that_is_none(project, capsys):
    (project / "streamhouse.yaml").write_text("autopilot:\n  flows:\n    - orders\n    - ordrs\n")
    assert main(["validate"]) == 3
    assert "streamhouse.yaml:4:7: SH213 unknown flow 'ordrs'\n  hint: did you mean 'orders'?" in capsys.readouterr().err


def test_functions_that_depend_on_the_order_of_rows_are_told(project, capsys):
    change(project / "actions" / "revenue_by_product.sql", "COUNT(*)", "FIRST(amount_cents)")
    assert main(["validate"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("3 actions and 1 flow: no errors")
    assert "actions/revenue_by_product.sql" in err
    assert "note FIRST(orders.amount_cents) depends on the order of rows\n  hint: write MIN(orders.amount_cents)" in err


def test_paths_choose_which_errors_are_told(project, capsys):
    change(project / "flows" / "orders.yaml", "use: clean_orders", "use: clean_oders")
    change(project / "actions" / "clean_orders.sql", "step: clean", "stp: clean")
    assert main(["validate", "actions"]) == 3
    assert "flows/orders.yaml" not in capsys.readouterr().err
    assert main(["validate", "actions/ingest_orders.sql"]) == 0
    assert main(["validate", str(project / "flows" / "orders.yaml")]) == 3


def test_json_holds_every_error(project, capsys):
    change(project / "flows" / "orders.yaml", "use: clean_orders", "use: clean_oders")
    assert main(["validate", "--json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert document["ok"] is False
    assert document["errors"] == [
        {
            "code": "SH201",
            "message": "unknown action 'clean_oders'",
            "file": "flows/orders.yaml",
            "line": 11,
            "column": 11,
            "hint": "did you mean 'clean_orders'?",
        }
    ]
    change(project / "flows" / "orders.yaml", "use: clean_oders", "use: clean_orders")
    assert main(["validate", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["ok"], document["errors"], list(document["plans"])) == (True, [], ["orders"])


def test_a_source_that_is_not_there(project, capsys):
    flow = project / "flows" / "orders.yaml"
    (project / "data" / "orders-2026-01.csv").unlink()
    flow.write_text("".join(line for line in flow.read_text().splitlines(keepends=True) if "columns:" not in line))
    assert main(["validate"]) == 3
    assert "flows/orders.yaml:5:3: SH212 no file matches 'data/*.csv'" in capsys.readouterr().err


def test_two_hundred_actions_are_checked_again_without_pyarrow_or_java(project):
    """How long it takes is measured by `benchmarks/planner_scale.py`."""
    action = (project / "actions" / "clean_orders.sql").read_text()
    flow = (project / "flows" / "orders.yaml").read_text().rstrip("\n")
    for i in range(197):
        name = f"clean_{i}"
        (project / "actions" / f"{name}.sql").write_text(action.replace("action: clean_orders", f"action: {name}"))
        flow += f"\n  - {{use: {name}, reads: {{orders: ods.orders}}, writes: dwd.{name}}}"
    (project / "flows" / "orders.yaml").write_text(flow + "\n")
    program = (
        "import sys; from streamhouse.cli.main import main; code = main(['validate'])\n"
        "print(code, 'pyarrow' in sys.modules, 'pyspark' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    for _ in range(2):  # the first one notes what it found
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True
        )
    assert done.stdout.endswith("0 False False\n")
    assert "200 actions" in done.stdout


def test_a_source_of_changes_without_columns(project, capsys):
    flow = project / "flows" / "orders.yaml"
    text = flow.read_text()
    begin = text.index("  lines:\n")
    end = text.index("steps:")
    flow.write_text(f"{text[:begin]}  lines: {{cdc: {{path: data/*.jsonl, primary_key: [order_id]}}}}\n{text[end:]}")
    assert main(["validate"]) == 3
    err = capsys.readouterr().err
    assert "SH212 cdc needs the option 'columns'\n  hint: columns: what to take of each row: {id: bigint" in err
