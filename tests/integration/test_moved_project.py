"""A project with rows in every tier that is moved, copied and adopted, by the command, over real stores."""

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager

import pytest

from tests.command import COMMAND
from tests.gate.levels import soak
from tests.patience import PATIENCE_S, SOAKING, until

pytestmark = [pytest.mark.services, pytest.mark.spark, soak]

TABLES = """\
tables:
  ods.orders: {tiers: {hot: 7d, cold: forever}}
  dwd.orders: {tiers: {hot: 7d, warm: forever}}
  dws.revenue_by_product: {tiers: {hot: 7d, cold: forever}}
"""
HEADER = "order_id,product,quantity,price,ordered_at\n"


def call(root, *words, code=0):
    clean = {key: value for key, value in os.environ.items() if not key.startswith("STREAMHOUSE_ST")}
    environment = {**clean, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(
        [*COMMAND, *words, "--project", str(root)], env=environment, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == code, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def cents(root):
    """What the hot tier says, and what the cold one says."""
    hot, cold = (f"SELECT sum(revenue_cents) AS cents FROM dws.revenue_by_product.{tier}" for tier in ("hot", "cold"))
    text = f"SELECT h.cents AS hot, c.cents AS cold FROM ({hot}) AS h CROSS JOIN ({cold}) AS c"
    out = call(root, "query", text, "--json")
    (row,) = json.loads(out[out.index("{") : out.rindex("}") + 1])["rows"]
    return [row["hot"], row["cold"]]


@contextmanager
def services(root):
    """One Fluss for all commands of the block: else each starts one and stops it."""
    call(root, "services", "up")
    yield
    call(root, "services", "down")


def order(root, number, code=0):
    (root / "data" / f"{number}.csv").write_text(f"{HEADER}{number},tea,2,3.50,2026-02-01 10:00:00\n")
    call(root, "run", "orders", "--once", code=code)


def snapshots_of_hot_tables(root):
    """Wait until Fluss has written one: it names its files by their absolute paths."""
    until(lambda: list((root / ".streamhouse/services/remote/kv").rglob("_METADATA")))


def test_rows_are_there_wherever_the_project_goes(tmp_path):
    shop = tmp_path / "shop"
    subprocess.run([*COMMAND, "init", str(shop)], check=True, capture_output=True)
    with (shop / "flows" / "orders.yaml").open("a") as file:
        file.write(TABLES)
    with services(shop):
        call(shop, "run", "orders", "--once")
        if SOAKING:
            snapshots_of_hot_tables(shop)
        order(shop, 900)  # the cold table takes a row out of a file that it has
        before, cold = cents(shop)
        assert before == cold

    moved = shop.rename(tmp_path / "moved")
    assert cents(moved) == [before] * 2
    order(moved, 901)
    assert cents(moved) == [before + 700] * 2

    copy = tmp_path / "copy"
    shutil.copytree(moved, copy, symlinks=True)
    assert "SH309" in call(copy, "upkeep", "--full", code=4)
    call(copy, "adopt")
    with services(copy):
        order(copy, 902)
        call(copy, "upkeep", "--full", "--orphans")
        assert cents(copy) == [before + 1400] * 2
    assert cents(moved) == [before + 700] * 2, "the original is as it was"
