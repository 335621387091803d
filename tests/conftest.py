"""Fixtures that every level of tests shares."""

import os
import signal
import threading

import pytest
from hypothesis import settings

from tests.patience import SOAKING

pytest_plugins = [
    "tests.gate.levels",
    "tests.gate.shared",
    "tests.gate.leftovers",
    "tests.gate.verdict",
    "pytester",
    "tests.golden",
    "tests.plugins_fluss",
    "tests.plugins_spark",
]

# Each run tries the same examples, so a run is red where the code is wrong and not by chance; `make soak` draws new
# ones, and what it finds becomes an example with a name. Machines are noisy: a slow first call is no failure.
settings.register_profile("streamhouse", deadline=None, derandomize=not SOAKING)
settings.load_profile("streamhouse")

# Most JVMs of tests live for seconds, where the second compiler costs more than it gains. Without it Java keeps no more
# than 48 MB of compiled code, which the session of a whole run fills: then it throws away what it will need again. The
# serial collector and a heap that need not grow first take a tenth of the processor time less.
_JVM = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC -Xms512m"
os.environ.setdefault("SPARK_SUBMIT_OPTS", _JVM)

# A run in the background of a script ignores Ctrl-C, and so would every process that a test sends it to.
if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Files that take longest go first, each to one process: begun last, one of them alone would keep the others waiting.
_LONGEST = (
    "test_losses",
    "test_damaged_commands",
    "test_epochs",
    "test_flow_in_airflow",
    "test_outcomes_run",
    "test_reading_histories",
    "test_services_interrupted",
    "test_csv_files",
    "test_delta_random",
    "test_null_keys_lost",
    "test_outages",
    "test_tiering",
    "test_spread_epochs",
    "test_object_store",
    "test_changes_killed",
    "test_production",
    "test_retention",
    "test_null_keys",
    "test_services",
    "test_deaths",
    "test_totals_of_nothing",
    "test_backfill_order",
    "test_hot_partitions",
    "test_cli",
    "test_demo",
    "test_page",
    "test_types",
    "test_strategies_exact",
    "test_partitions",
    "test_compose",
    "test_runner_command",
    "test_moved_project",
    "test_tiers_killed",
    "test_merge_engines",
    "test_sql_coverage",
    "test_followed",
    "test_airflow_stream",
    "test_any_moment",
    "test_cdc",
    "test_increments",
    "test_store",
    "test_older_state",
    "test_shortcuts_off",
    "test_parsing",
    "test_equality",
    "test_tpch",
    "test_nexmark",
    "test_actions_batch",
    "test_query_at_rest",
    "test_mutants",
    "test_runners",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort whole files, which `--no-loadscope-reorder` then keeps in this order."""
    rank = {name: number for number, name in enumerate(_LONGEST)}
    items.sort(key=lambda item: rank.get(item.path.stem, len(rank)))
