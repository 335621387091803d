"""Every error Streamhouse raises on purpose: place, code, cause, next step.

Codes are grouped by what the reader can do about them:

| codes | class of problem | exit code |
|---|---|---|
| SH1xx | a file cannot be read: YAML, header, SQL syntax, unknown key | 3 |
| SH2xx | the definitions do not fit together: names, columns, types, cycles | 3 |
| SH3xx | the machine or the environment lacks something | 4 |
| SH4xx | a store refuses or cannot be reached | 5 |
| SH5xx | an epoch, a lease, a position or an approval is not as recorded | 6 |
| SH6xx | a query a person typed is wrong | 3 |

Usage errors of the command line exit with 2, as click does.
"""

from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import ClassVar

from streamhouse.secret import masked


@dataclass(frozen=True, order=True)
class Location:
    """A place in a file a person wrote; line and column count from 1."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class StreamhouseError(Exception):
    """Base class: `except StreamhouseError` catches all we raise and nothing else.

    Its text is `place: code message` and, on a line of its own, the hint. `retryable` is a
    property of the class: True where the same call may succeed later without a person.
    """

    code: ClassVar[str] = "SH000"
    exit_code: ClassVar[int] = 1
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, at: Location | None = None, hint: str | None = None) -> None:
        self.message = masked(message)  # what a library says may have a URL with its password in it
        self.at = at
        self.hint = masked(hint) if hint else hint
        super().__init__(self.message)

    def __str__(self) -> str:
        place = f"{self.at}: " if self.at else ""
        hint = f"\n  hint: {self.hint}" if self.hint else ""
        return f"{place}{self.code} {self.message}{hint}"

    def __reduce__(self) -> tuple[object, ...]:
        # Subclasses have constructors of their own; an error must survive a process boundary as it is.
        return _restore, (type(self), self.message, self.at, self.hint)


def _restore(kind: type[StreamhouseError], message: str, at: Location | None, hint: str | None) -> StreamhouseError:
    error = kind.__new__(kind)
    StreamhouseError.__init__(error, message, at=at, hint=hint)
    return error


def did_you_mean(name: str, known: Collection[str], otherwise: str | None = None) -> str | None:
    """A hint that names the closest known word, else `otherwise`."""
    close = get_close_matches(name, known, n=1)
    return f"did you mean '{close[0]}'?" if close else otherwise


class DefinitionErrors(StreamhouseError):  # noqa: N818  it is several
    """Several definition errors at once, in the order of their places; `errors` holds each."""

    exit_code = 3

    def __init__(self, errors: Collection[StreamhouseError]) -> None:
        self.errors = tuple(sorted(errors, key=lambda e: e.at or Location("")))
        super().__init__("\n".join(str(e) for e in self.errors))

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[object, ...]:
        return DefinitionErrors, (self.errors,)


class DefinitionError(StreamhouseError):
    """A file a person wrote is wrong; running again changes nothing."""

    code = "SH200"
    exit_code = 3


class EnvironmentProblem(StreamhouseError):  # noqa: N818  Python has an EnvironmentError already
    """The machine lacks something: Java, a port, disk, a jar."""

    code = "SH300"
    exit_code = 4


class StoreError(StreamhouseError):
    """A store refuses, or does not hold what was promised."""

    code = "SH400"
    exit_code = 5


class EngineError(StreamhouseError):
    """An epoch, lease or position is not as recorded."""

    code = "SH500"
    exit_code = 6


class QueryError(StreamhouseError):
    """A query a person typed cannot be answered."""

    code = "SH600"
    exit_code = 3


# --- SH1xx: files -----------------------------------------------------------------------------


class FileFormatError(DefinitionError):
    """A file is not valid YAML, or a value has the wrong shape."""

    code = "SH101"


class UnknownKeyError(DefinitionError):
    """A mapping has a key the format does not know."""

    code = "SH102"

    def __init__(self, key: str, known: Collection[str], *, at: Location | None = None) -> None:
        super().__init__(
            f"unknown key '{key}'",
            at=at,
            hint=did_you_mean(key, known, f"known keys: {', '.join(sorted(known))}"),
        )


class HeaderError(DefinitionError):
    """An action file has no header, or one that does not end."""

    code = "SH103"


class SqlSyntaxError(DefinitionError):
    """The SQL of an action does not parse as Spark SQL."""

    code = "SH104"


# --- SH2xx: definitions -----------------------------------------------------------------------


class UnknownActionError(DefinitionError):
    """A step uses an action the registry does not hold."""

    code = "SH201"

    def __init__(self, name: str, known: Collection[str], *, at: Location | None = None) -> None:
        super().__init__(
            f"unknown action '{name}'",
            at=at,
            hint=did_you_mean(name, known, "see: streamhouse action list"),
        )


class UnknownColumnError(DefinitionError):
    """SQL, a key or a contract names a column its input lacks."""

    code = "SH202"


class TypeMismatchError(DefinitionError):
    """A column has another type than the port or the parameter declares."""

    code = "SH203"


class CyclicFlowError(DefinitionError):
    """Steps read each other's output, directly or through others."""

    code = "SH204"


class DuplicateWriterError(DefinitionError):
    """Two steps write one table."""

    code = "SH205"


class MissingParameterError(DefinitionError):
    """A parameter without a default got no value, or SQL uses one that is not declared."""

    code = "SH206"


class UnknownTableError(DefinitionError):
    """A step reads a table that no source, step or flow makes."""

    code = "SH207"


class PortError(DefinitionError):
    """A step's `reads` does not match the inputs of its action."""

    code = "SH208"


class DuplicateNameError(DefinitionError):
    """Two files define the same action or flow."""

    code = "SH209"


class UntypedColumnError(DefinitionError):
    """The type of an output column cannot be told without running the SQL."""

    code = "SH210"


class UnforeseenError(DefinitionError):
    """The analysis of a file stumbled over something that nobody foresaw: a fault of ours, and of that file alone."""

    code = "SH220"


class StrategyError(DefinitionError):
    """A step names a strategy its SQL does not allow, or SQL no strategy can replay."""

    code = "SH211"


class SourceError(DefinitionError):
    """A source is unknown, or what it names does not exist."""

    code = "SH212"


class UnknownFlowError(DefinitionError):
    """No file defines the flow that was asked for."""

    code = "SH213"

    def __init__(self, name: str, known: Collection[str], *, at: Location | None = None) -> None:
        super().__init__(
            f"unknown flow '{name}'",
            at=at,
            hint=did_you_mean(name, known, "see: streamhouse flow list"),
        )


class TierError(DefinitionError):
    """A table asks of a tier what it cannot do."""

    code = "SH214"


class OutputColumnError(DefinitionError):
    """An output column has no name, or the name of another."""

    code = "SH215"


class MergeEngineError(DefinitionError):
    """A table names a merge engine that its step, its tier or a column does not allow."""

    code = "SH216"


class PartitionError(DefinitionError):
    """A table names partitions that its columns or its key do not allow."""

    code = "SH217"


# --- SH3xx: environment -----------------------------------------------------------------------


class JavaMissingError(EnvironmentProblem):
    """No Java, or one too old for Spark."""

    code = "SH301"


class PortTakenError(EnvironmentProblem):
    """Another process listens where a service of ours should."""

    code = "SH302"


class DiskFullError(EnvironmentProblem):
    """There is no room left where the project keeps its data."""

    code = "SH303"


class JarDownloadError(EnvironmentProblem):
    """A jar could not be fetched, or its checksum is wrong."""

    code = "SH304"
    retryable = True


class ServiceStartError(EnvironmentProblem):
    """An embedded service ended, or did not answer in time; its log says why."""

    code = "SH305"


class MissingPackageError(EnvironmentProblem):
    """A Python package of an optional extra is not installed."""

    code = "SH306"


class NotAProjectError(EnvironmentProblem):
    """The folder, and no folder above it, holds a Streamhouse project."""

    code = "SH307"


class FolderNotEmptyError(EnvironmentProblem):
    """A new project would be mixed with files that are there already."""

    code = "SH308"


class ProjectCopiedError(EnvironmentProblem):
    """What a project keeps was copied with it, and names files and processes of the project it was copied from."""

    code = "SH309"

    def __init__(self, root: Path, original: Path) -> None:
        super().__init__(
            f"{root} is a copy of {original}: the files and services that its state names are those of that project",
            hint=f"make it a project of its own: streamhouse adopt --project {root}; or remove {root}/.streamhouse",
        )


# --- SH4xx: stores ----------------------------------------------------------------------------


class StoreUnavailableError(StoreError):
    """A store does not answer; the same call may succeed later."""

    code = "SH401"
    retryable = True


class TableMissingError(StoreError):
    """A store does not hold a table that the plan says it has."""

    code = "SH402"


class SchemaConflictError(StoreError):
    """A store holds the table with another schema, key or bucket count than the plan."""

    code = "SH403"


class RowsLostError(StoreError):
    """A range was asked for that the store no longer holds."""

    code = "SH404"


class WriteRefusedError(StoreError):
    """A store refuses rows: a null key, a value that does not fit."""

    code = "SH405"


class TableLostError(StoreError):
    """A table that the state store knows of is gone, another one, or ends before its record (design D14)."""

    code = "SH406"


class LoginRefusedError(StoreError):
    """A store does not know the user, or not with this password."""

    code = "SH407"


# --- SH5xx: engine ----------------------------------------------------------------------------


class LeaseHeldError(EngineError):
    """Another runner carries this flow."""

    code = "SH501"


class LeaseLostError(EngineError):
    """A newer runner took this flow over; this one must stop and write nothing more."""

    code = "SH502"


class LeaseExpiredError(EngineError):
    """A lease could not be renewed in its time, so rows must not be written: another runner may write them."""

    code = "SH514"
    retryable = True


class EpochFailedError(EngineError):
    """An epoch failed for a reason that running it again cannot mend."""

    code = "SH503"


class StateConflictError(EngineError):
    """What a store holds contradicts what the state store recorded."""

    code = "SH504"


class RestateError(EngineError):
    """A table cannot be brought to what its whole history says."""

    code = "SH505"


class BlockedError(EngineError):
    """A change of a flow needs a person's decision; nothing was changed."""

    code = "SH507"
    exit_code = 11


class NotConfirmedError(EngineError):
    """A change of what runs was asked for, and nobody said yes: there is no terminal to ask on."""

    code = "SH518"
    exit_code = 2


class ChangeFailedError(EngineError):
    """A change of a flow could not be carried out; what was applied before stays."""

    code = "SH508"


class NoEnvironmentError(EngineError):
    """There is no environment of that name, or nothing to make one of."""

    code = "SH509"


class AuditFailedError(EngineError):
    """Tables were built anew and must not serve as they are; what served before goes on."""

    code = "SH510"


class UnknownChangeError(EngineError):
    """The journal has no change with this number."""

    code = "SH511"


class UnknownApprovalError(EngineError):
    """Nobody was asked what an id stands for."""

    code = "SH512"

    def __init__(self, name: str, known: Collection[str], *, at: Location | None = None) -> None:
        super().__init__(
            f"unknown approval '{name}'", at=at, hint=did_you_mean(name, known, "see: streamhouse approvals --all")
        )


class ApprovalClosedError(EngineError):
    """What is to be decided was decided already, or nobody did in time."""

    code = "SH513"


class RunnerHeldError(EngineError):
    """Another living process is the runner of that name."""

    code = "SH520"


class RunnerLostError(EngineError):
    """The runner of a flow is gone and did not say why; the next one goes on from the same positions."""

    code = "SH521"
    retryable = True


class RunnerFailedError(EngineError):
    """A runner did not start, or ended by an error that is not of one flow."""

    code = "SH522"


class NotCarriedError(EngineError):
    """A runner is asked for what it cannot do: flows that nobody asked of it, or that do not end in time."""

    code = "SH523"


# --- SH6xx: queries ---------------------------------------------------------------------------


class QueryRefusedError(QueryError):
    """The SQL is wrong, names an unknown table or column, or would change data."""

    code = "SH601"


class QueryFailedError(QueryError):
    """The query is well formed and fails on a row: a cast, a division, too large a result."""

    code = "SH602"
