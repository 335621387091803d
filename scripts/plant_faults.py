"""Plants one fault after the other into a copy of the code, and says which test of `make test` sees it.

`make test` protects the promises of the product. Each fault below breaks one of them. For each fault the script runs
the tests that must see it, as `make test` runs them. A fault that no test sees is a hole in `make test`: the script
ends with 1.

    .venv/bin/python scripts/plant_faults.py [--list] [--only TEXT]

It works in a worktree of HEAD beside the repository's data, which it removes at the end. It needs about a minute for
each fault.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CODE = "plugins/streamhouse"


@dataclass(frozen=True)
class Fault:
    """A change that breaks a promise.

    Attributes:
        promise: What is broken.
        file: Below the package.
        before: A text that is there once.
        after: What takes its place.
        tests: Files of tests, one of which must fail.
    """

    promise: str
    file: str
    before: str
    after: str
    tests: tuple[str, ...]


FAULTS = (
    Fault(
        "exactly once, Paimon: an epoch that is repeated is written again",
        "stores/paimon/store.py",
        "(rows.num_rows or context.properties):\n                self._commit(handle, rows, user, context)\n",
        "(rows.num_rows or context.properties) or True:\n                self._commit(handle, rows, user, context)\n",
        ("tests/contract/test_store.py",),
    ),
    Fault(
        "exactly once, Iceberg: an epoch that is repeated is written again",
        "stores/iceberg/store.py",
        "repeated = last is not None and int(last[EPOCH]) >= context.epoch",
        "repeated = False",
        ("tests/contract/test_store.py",),
    ),
    Fault(
        "exactly once, log of Fluss: rows are doubled after a kill",
        "stores/fluss/store.py",
        "return not_yet_written(table.name, rows, self.read_changes(table, replay_from, end).upserts)",
        "return rows",
        ("tests/contract/test_store.py",),
    ),
    Fault(
        "exactly once, sums of Fluss: a repeated epoch is added again",
        "stores/fluss/store.py",
        "return without_keys(rows, self._rows.log(table, ranges, table.primary_key)"
        ".rows.select(list(table.primary_key)))",
        "return rows",
        ("tests/contract/test_store.py", "tests/contract/test_merge_engines.py"),
    ),
    Fault(
        "equal to the batch: keys that a row leaves are not computed again",
        "engine/strategies.py",
        "return [changes.upserts, inputs.states.before(read.table)]",
        "return [changes.upserts]",
        ("tests/integration/test_histories.py", "tests/integration/test_increments.py"),
    ),
    Fault(
        "equal to the batch: a row that no longer passes a filter stays",
        "engine/strategies.py",
        "return StepResult(Changes(rows, deletes), judged)",
        "return StepResult(Changes(rows), judged)",
        ("tests/integration/test_histories.py", "tests/integration/test_increments.py"),
    ),
    Fault(
        "tiers: each round of tiering lacks a row",
        "tiering/move.py",
        "return source.read_changes(table, start, end), end",
        "found = source.read_changes(table, start, end)\n"
        "        return Changes(found.upserts.slice(1), found.deletes), end",
        ("tests/integration/test_tiering.py", "tests/integration/test_demo.py"),
    ),
    Fault(
        "union read: a row that changed in the hot tier is there twice",
        "tiering/union.py",
        "return without_keys(rows, changed)",
        "return rows",
        ("tests/integration/test_tiering.py", "tests/integration/test_query.py"),
    ),
    Fault(
        "outcomes: another primary key only swaps",
        "compiler/diff/table.py",
        "return Finding(rule=29, outcome=Outcome.REBUILD, proof=proof, rows=True)",
        "return Finding(rule=29, outcome=Outcome.SWAP, proof=proof, rows=True)",
        ("tests/unit/compiler",),
    ),
    Fault(
        "approval: a change that waits for a person is applied",
        "trigger/conclude.py",
        "if question.state is not ApprovalState.GRANTED:",
        "if question.state is ApprovalState.REFUSED:",
        ("tests/unit/trigger", "tests/integration/test_trigger.py"),
    ),
    Fault(
        "doors: a query reads a file",
        "query/parse.py",
        "    _refuse_all_but_tables(tree, text)\n",
        "",
        ("tests/unit/query", "tests/integration/test_doors.py"),
    ),
    Fault(
        "secrets: an error shows a password",
        "secret.py",
        'return _ASSIGNED.sub(rf"\\g<1>{HIDDEN}", _USER_INFO.sub(rf"\\g<1>{HIDDEN}@", text))',
        "return text",
        ("tests/unit/test_secret.py", "tests/integration/test_secrets.py", "plugins/streamhouse/secret.py"),
    ),
    Fault(
        "sources, Kafka: rows of a transaction that is not committed are read",
        "ingest/kafka_topic.py",
        "isolation_level=IsolationLevel.READ_COMMITTED",
        "isolation_level=IsolationLevel.READ_UNCOMMITTED",
        ("tests/contract/test_kafka.py",),
    ),
    Fault(
        "sources, change events: deletes are lost",
        "ingest/cdc.py",
        "deletes if deletes.num_rows else None, old)",
        "None, old)",
        ("tests/unit/ingest", "tests/integration/test_cdc.py"),
    ),
    Fault(
        "a table of others that lost rows before they were read: the flow goes on without them",
        "ingest/tables/iceberg.py",
        "            if number == start + 1 and expired:",
        "            if expired:",
        ("tests/unit/ingest/tables/test_iceberg_tables.py",),
    ),
    Fault(
        "a table of others whose owner removed rows: they stay in the flow's tables, and nothing says so",
        "ingest/tables/iceberg.py",
        "added=False, what=operation)",
        "added=True, what=operation)",
        ("tests/unit/ingest/tables/test_iceberg_tables.py",),
    ),
    Fault(
        "one runner: a second process takes a flow that runs",
        "state/leases.py",
        "if _stands(row, now) and holder != owner and not _is_dead(holder, owner.host, alive):",
        "if False:",
        ("tests/unit/state",),
    ),
    Fault(
        "restore: a hot table comes back without the rows of its lake",
        "jobs/refill.py",
        "        with filling(table, self._unexpired_rows(table, rows)) as found:",
        "        with filling(table, rows.limit(1)) as found:",
        ("tests/integration/test_lost_hot_tier.py",),
    ),
    Fault(
        "page: a request without the token is answered",
        "ui/alone.py",
        "return secrets.compare_digest(token.encode(), self.token.encode())",
        "return True",
        ("tests/unit/ui", "tests/integration/ui"),
    ),
    Fault(
        "Airflow: a task whose command failed is green",
        "orchestrator/engine_command.py",
        "if code and (code not in fine or not document or error_text):",
        "if False:",
        ("tests/unit/orchestrator", "tests/airflow"),
    ),
)


def main() -> int:
    """Plant each fault and say what saw it; returns 1 if a fault was not seen or does not fit the code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="only list the faults")
    parser.add_argument("--only", default="", metavar="TEXT", help="only faults whose promise contains this text")
    asked = parser.parse_args()
    faults = [fault for fault in FAULTS if asked.only in fault.promise]
    if asked.list:
        sys.stdout.write("".join(f"{fault.promise}\n" for fault in faults))
        return 0
    missed = 0
    with tempfile.TemporaryDirectory() as parent:
        copy = Path(parent) / "copy"
        git("worktree", "add", "--detach", "--quiet", str(copy), "HEAD")
        try:
            for fault in faults:
                seen = planted(copy, fault)
                missed += seen is None
                sys.stdout.write(f"{'seen' if seen else 'NOT SEEN'}: {fault.promise}\n      {seen or 'by no test'}\n")
                sys.stdout.flush()
        finally:
            git("worktree", "remove", "--force", str(copy))
    sys.stdout.write(f"{len(faults) - missed} of {len(faults)} faults were seen\n")
    return 1 if missed else 0


def planted(copy: Path, fault: Fault) -> str | None:
    """The first test that fails with this fault; None: none does."""
    path = copy / CODE / fault.file
    text = path.read_text()
    if text.count(fault.before) != 1:
        raise SystemExit(f"{fault.file} does not have this text once: {fault.before}")
    path.write_text(text.replace(fault.before, fault.after))
    try:
        return next(filter(None, (first_failure(copy, test) for test in fault.tests)), None)
    finally:
        path.write_text(text)


def first_failure(copy: Path, test: str) -> str | None:
    """Run tests until one fails, as `make test` chooses them."""
    level = [] if test.startswith(("tests/unit", CODE)) else ["--level", "test"]
    command = [sys.executable, "-m", "pytest", test, "-x", "-q", "-n", "0", *level]
    command += ["--doctest-modules"] if test.startswith(CODE) else []
    environment = {**os.environ, "PYTHONPATH": f"{copy / 'plugins'}{os.pathsep}{copy}"}
    run = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    if run.returncode == 0:
        return None
    lines = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if run.returncode != 1 or not lines:
        raise SystemExit(f"pytest ended with {run.returncode}:\n{run.stdout[-3000:]}{run.stderr[-2000:]}")
    return lines[0]


def git(*arguments: str) -> None:
    """Run git here."""
    subprocess.run(["git", *arguments], cwd=ROOT, check=True)


if __name__ == "__main__":
    raise SystemExit(main())
