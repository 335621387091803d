"""The `streamhouse` command as a process of its own, as a person would start it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE_S

COMMAND = [sys.executable, "-c", "import sys; from streamhouse.cli.main import main; sys.exit(main())"]


def clean_environment() -> dict[str, str]:
    """That of this process without settings of Streamhouse, and with its import path."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("STREAMHOUSE_")}
    return {**clean, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}


def document_of(*arguments: str, cwd: Path, environment: dict[str, str], code: int = 0) -> Any:
    """What the command tells as JSON; it must end with the exit code."""
    done = subprocess.run(
        [*COMMAND, *arguments, "--json"], cwd=cwd, env=environment, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == code, f"{arguments}\n{done.stdout}\n{done.stderr}"
    return json.loads(done.stdout)


def address_of(server: "subprocess.Popen[str]") -> str:
    """Where a server that was started with `--json` takes requests, once it says so."""
    assert server.stdout is not None
    told = ""
    while not told.rstrip().endswith("}"):
        line = server.stdout.readline()
        assert line, f"it ended with {server.wait()}: {told}"
        told += line
    return str(json.loads(told)["url"])
