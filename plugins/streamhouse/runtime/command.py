"""How the `streamhouse` command is called as a process of its own."""

import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec

COMMAND_VARIABLE = "STREAMHOUSE_COMMAND"
"""Environment variable: the `streamhouse` command of an environment with an engine, where this one has none."""

_PROGRAM = "import sys; from streamhouse.cli.main import main; sys.exit(main())"


@dataclass(frozen=True)
class Command:
    """A command and what is added to its environment, which may hold secrets: it is never shown."""

    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def is_there(self) -> bool:
        """Whether its program can be found."""
        return bool(self.words) and shutil.which(self.words[0]) is not None


def own_command() -> Command:
    """The command of this environment, whether or not a script of that name is on the path."""
    return Command((sys.executable, "-c", _PROGRAM))


def has_engine() -> bool:
    """Whether this environment has what runs flows and queries."""
    return find_spec("pyarrow") is not None and find_spec("pyspark") is not None
