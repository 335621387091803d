"""The process from which Spark forks its Python workers, in place of `pyspark.daemon` (docs/findings.md).

Spark 4.1 calls `importlib.invalidate_caches()` in every task. With `pyspark.zip` on the path, Python
before 3.12 then reads the zip's directory again for every entry below it: 170 ms of CPU for each task,
whatever it does. Here the workers take the installed package instead of the zip, and the modules
they use are there before the fork.

Set by `spark.python.daemon.module`; Spark runs `python -m streamhouse.spark.worker_daemon pyspark.worker`.
"""

import gc
import importlib
import sys
import zipimport
from contextlib import suppress
from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

# Imported, never used: the native clients make their threads at first use, and threads do not survive a fork.
_WARM = (
    "pyarrow",
    "pyarrow.compute",
    "numpy",
    "pandas",
    "fluss",
    "pyspark.worker",
    "pyspark.sql.pandas.serializers",
    "streamhouse.engine.spread",
    "streamhouse.engine.rows_source",
    "streamhouse.stores.fluss.store",
    "streamhouse.ingest.kinds",
    "streamhouse.ingest.files",
    "streamhouse.ingest.replay",
)
MODULE = "streamhouse.spark.worker_daemon"


def prepare() -> None:
    """Make this process a good parent: no zip to read again, everything imported, nothing for the collector."""
    if zips_are_read_again(sys.version_info[:2], _installed_spark()):
        if zips := spark_zips(sys.path):
            sys.path[:] = [entry for entry in sys.path if entry not in zips]
            for entry in [entry for entry in sys.path_importer_cache if entry.startswith(zips)]:
                del sys.path_importer_cache[entry]
        # Also zips of the user's own, which no one changes while a worker lives.
        zipimport.zipimporter.invalidate_caches = lambda self: None  # type: ignore[method-assign]  # noqa: ARG005
    for name in _WARM:
        with suppress(ImportError):  # an executor may lack what only some flows need; who needs it then says so
            importlib.import_module(name)
    gc.collect()
    gc.freeze()  # Spark collects after each task: it need not look at what will never go


def zips_are_read_again(python: tuple[int, ...], spark: str) -> bool:
    """Whether each task pays for the zips on the path; since Python 3.12, or Spark 4.2, it does not."""
    major, minor = (int(part) for part in spark.split(".")[:2])
    return python < (3, 12) and (major, minor) < (4, 2)


def spark_zips(path: list[str]) -> tuple[str, ...]:
    """The entries of `path` that are Spark's own zips, when the same Spark is installed beside them; else none."""
    ours = tuple(entry for entry in path if Path(entry).name == "pyspark.zip" or _is_py4j(Path(entry)))
    others = [entry for entry in path if entry not in ours]
    pyspark = PathFinder.find_spec("pyspark", others)
    if not ours or pyspark is None or pyspark.origin is None or PathFinder.find_spec("py4j", others) is None:
        return ()
    installed = Path(pyspark.origin).with_name("version.py").read_text(encoding="utf-8")
    same = all(_version(entry) == installed for entry in ours if not _is_py4j(Path(entry)))
    return ours if same else ()


def _installed_spark() -> str:
    try:
        return version("pyspark")
    except PackageNotFoundError:
        return "0.0"  # it comes as a zip alone, whose version only an import would tell


def _is_py4j(entry: Path) -> bool:
    return entry.name.startswith("py4j-") and entry.suffix == ".zip"


def _version(archive: str) -> str | None:
    try:
        return zipimport.zipimporter(f"{archive}/pyspark").get_source("version")
    except zipimport.ZipImportError:
        return None


if __name__ == "__main__":
    prepare()
    from pyspark.daemon import manager

    manager()  # type: ignore[no-untyped-call]
