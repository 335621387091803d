"""A home of Spark without its zips, so that its Python processes load the installed package instead.

Spark puts `python/lib/pyspark.zip` of its home before everything else on the path of the processes it starts: the
workers, the stream readers, and one more for each kind of question about a Python source. A zip holds no compiled
code, so each of them compiles PySpark first: 0.4 CPU seconds. Where the zips are absent, Python goes on to the next
entry of the path, and the package the driver itself runs is always there.
"""

import os
from importlib.util import find_spec
from pathlib import Path

_ZIPS = "python"  # the folder of the home that holds them, and in an installed package nothing else
_HOME = "SPARK_HOME"


def use_installed_python(folder: Path) -> None:
    """Let Spark, in this process, start from `folder`, which then links to all of the installed package but its zips.

    A home that the environment names stays as it is; so does the package's where no links can be made.
    """
    if _HOME in os.environ:
        return
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for entry in Path(spec.origin).parent.iterdir():
            if entry.is_dir() and entry.name != _ZIPS:
                _link(folder / entry.name, entry)
    except OSError:
        return
    os.environ[_HOME] = str(folder)


def _link(link: Path, target: Path) -> None:
    if link.is_symlink() and link.readlink() == target:
        return
    fresh = link.with_name(f".{link.name}.{os.getpid()}")
    fresh.symlink_to(target)
    fresh.replace(link)  # in one step, also if another process does the same
