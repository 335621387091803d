"""Which zips the worker daemon leaves out."""

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from streamhouse.spark.worker_daemon import spark_zips, zips_are_read_again

PYSPARK = Path(find_spec("pyspark").origin)
LIB = PYSPARK.parent / "python" / "lib"


@pytest.fixture
def zips():
    found = [str(archive) for archive in sorted(LIB.glob("*.zip"))]
    assert len(found) == 2
    return found


def test_sparks_zips_are_left_out_when_the_same_spark_is_installed(zips):
    assert spark_zips(["/else/mine.zip", *zips, *sys.path]) == tuple(zips)


def test_they_stay_when_spark_is_nowhere_else(zips):
    assert spark_zips(["/else/mine.zip", *zips]) == ()


def test_they_stay_when_another_spark_is_installed(zips, tmp_path):
    installed = tmp_path / "pyspark"
    installed.mkdir()
    shutil.copy(PYSPARK, installed)
    (installed / "version.py").write_text('__version__: str = "3.5.0"\n')
    packages = [p for p in sys.path if not (Path(p) / "pyspark").exists()]
    (tmp_path / "py4j").mkdir()
    (tmp_path / "py4j" / "__init__.py").touch()
    assert spark_zips([*zips, str(tmp_path), *packages]) == ()


@pytest.mark.parametrize(
    ("python", "spark", "again"),
    [
        ((3, 11), "4.1.4", True),
        ((3, 10), "3.5.0", True),
        ((3, 12), "4.1.4", False),
        ((3, 11), "4.2.0", False),
        ((3, 11), "5.0.0.dev1", False),
    ],
)
def test_zips_need_care_where_each_task_reads_them(python, spark, again):
    assert zips_are_read_again(python, spark) is again
