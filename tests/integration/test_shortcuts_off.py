"""With `spark: {shortcuts: off}` a project's tables are the same, and `status` says which way was taken."""

import json
import os
import subprocess
import sys

import pytest

from tests.gate.levels import deep, soak
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.spark, deep("a run without shortcuts; the last step of `make test-all` has the public ways")]

ACTION = """\
/* ---
action: {name}
step: {step}
inputs: {{rows: {{{columns}}}}}
output: {{primary_key: [{key}]}}
--- */
{sql}
"""
FLOW = """\
flow: shop
sources:
  lines: {files: {path: "data/*.csv", columns: {id: bigint, product: string, cents: bigint}}}
steps:
  - {use: keep, reads: {rows: lines}, writes: ods.lines}
  - {use: large, reads: {rows: ods.lines}, writes: dwd.large}
tables:
  ods.lines: {tiers: {warm: forever}}
  dwd.large: {tiers: {warm: forever}}
"""
KEEP = {"name": "keep", "step": "ingest", "columns": "id: bigint, product: string, cents: bigint", "key": "id"}
KEEP["sql"] = "SELECT id, product, cents FROM rows"
LARGE = {**KEEP, "name": "large", "step": "clean"}
LARGE["sql"] = "SELECT id, UPPER(product) AS product, cents * 2 AS twice FROM rows WHERE cents > 100"


@pytest.fixture
def streamhouse(tmp_path):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("STREAMHOUSE_")}
    environment["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)

    def call(*arguments):
        done = subprocess.run(
            [sys.executable, "-c", "import sys; from streamhouse.cli.main import main; sys.exit(main())", *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return call


@pytest.mark.parametrize("shortcuts", ["off", pytest.param("[log_files, carrier]", marks=soak)])
def test_a_run_gives_the_same_tables(tmp_path, streamhouse, shortcuts):
    for folder in ("actions", "flows", "data"):
        (tmp_path / folder).mkdir()
    for action in (KEEP, LARGE):
        (tmp_path / "actions" / f"{action['name']}.sql").write_text(ACTION.format(**action))
    (tmp_path / "flows" / "shop.yaml").write_text(FLOW)
    (tmp_path / "streamhouse.yaml").write_text(f"spark: {{master: 'local[2]', shortcuts: {shortcuts}}}\n")
    lines = [(n, f"p{n % 7}", n * 3) for n in range(200)]
    for number in range(2):
        part = lines[number * 100 : number * 100 + 100]
        text = "".join(f"{n},{product},{cents}\n" for n, product, cents in part)
        (tmp_path / "data" / f"{number}.csv").write_text(f"id,product,cents\n{text}")
        assert streamhouse("run", "shop", "--once", "--json")["rows"]["ods.lines"] == 100
    found = streamhouse("query", "SELECT id, product, twice FROM dwd.large ORDER BY id", "--json")
    wanted = [{"id": n, "product": product.upper(), "twice": cents * 2} for n, product, cents in lines if cents > 100]
    assert found["rows"] == wanted
    on = streamhouse("status", "--json")["shortcuts"]["on"]
    assert on == ([] if shortcuts == "off" else ["carrier", "log_files"])
