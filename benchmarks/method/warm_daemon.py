"""The tuned peers' `spark.python.daemon.module`: workers are forked with everything imported.

Spark 4.1 invalidates the import caches for every task, and before Python 3.12 that reads the directory of
pyspark.zip anew each time.
"""

import gc
import importlib.util
import sys
import zipimport

if importlib.util.find_spec("pyspark") is not None:
    folders = [path for path in sys.path if not path.endswith(".zip")]
    sys.path[:] = folders
    sys.path_importer_cache.clear()
zipimport.zipimporter.invalidate_caches = lambda _: None  # type: ignore[method-assign, assignment]

import numpy  # noqa: E402, F401
import pandas  # type: ignore[import-untyped]  # noqa: E402, F401
import pyarrow  # noqa: E402, F401
import pyspark.daemon  # noqa: E402, TID253
import pyspark.worker  # noqa: E402, TID253

import method.layer_source  # noqa: E402, F401

gc.collect()
gc.freeze()

if __name__ == "__main__":
    pyspark.daemon.manager()  # type: ignore[no-untyped-call]
