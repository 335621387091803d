"""What `streamhouse.yaml` says: where the services and warehouses of a project are."""

import json
import os
from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, ByteSize, Field, ValidationError, field_validator, model_validator

from streamhouse.doors.spark import VARIABLE as _SPARK_CONF
from streamhouse.doors.variables import PermittedVariables, is_text
from streamhouse.errors import FileFormatError
from streamhouse.install.jars import Jar, spark_jars
from streamhouse.model.connection import Connection
from streamhouse.model.lake_connection import TablesConnection
from streamhouse.model.object_connection import S3Connection
from streamhouse.model.place import is_local
from streamhouse.model.schema_registry import SchemaRegistry
from streamhouse.model.spark_conf import why_ours
from streamhouse.model.types import NAME, Duration, Frozen
from streamhouse.project.autopilot import AutopilotSettings
from streamhouse.project.settings_doors import check_doors
from streamhouse.registry.inline_secrets import refuse_secrets
from streamhouse.registry.problems import Problems
from streamhouse.registry.regular_file import regular_text
from streamhouse.registry.validate import build, keep_known
from streamhouse.registry.yaml_nodes import Document, KeyPath, read_yaml
from streamhouse.secret import names_secret, url_holds_secret
from streamhouse.spark.shortcuts import NEEDS, Shortcut
from streamhouse.stores.object_store import ObjectStore, is_object_store

FILE_NAME = "streamhouse.yaml"

_FROM_ENVIRONMENT = {
    "STREAMHOUSE_FLUSS": ("fluss",),
    "STREAMHOUSE_FLUSS_USER": ("fluss_login", "user"),
    "STREAMHOUSE_STATE": ("state",),
    "STREAMHOUSE_WARM": ("warm", "warehouse"),
    "STREAMHOUSE_COLD_CATALOG": ("cold", "catalog"),  # before the warehouse, which may need it
    "STREAMHOUSE_COLD_CREDENTIAL": ("cold", "credential"),
    "STREAMHOUSE_COLD_SCOPE": ("cold", "scope"),
    "STREAMHOUSE_COLD": ("cold", "warehouse"),
    "STREAMHOUSE_S3_ENDPOINT": ("object_store", "endpoint"),
    "STREAMHOUSE_S3_REGION": ("object_store", "region"),
    "STREAMHOUSE_IVY_SETTINGS": ("ivy_settings",),
    "STREAMHOUSE_SPARK_MASTER": ("spark", "master"),
    "STREAMHOUSE_SPARK_SECRET": ("spark", "secret"),
    "STREAMHOUSE_SPARK_SHORTCUTS": ("spark", "shortcuts"),
    "STREAMHOUSE_PATIENCE": ("patience",),
    "STREAMHOUSE_AUTO_APPLY": ("auto_apply",),
    "STREAMHOUSE_MODEL": ("models", "model"),
    "STREAMHOUSE_MODEL_URL": ("models", "url"),
}

_SECRET = (  # no message shows them
    "STREAMHOUSE_STATE",
    "STREAMHOUSE_COLD_CATALOG",
    "STREAMHOUSE_COLD_CREDENTIAL",
    "STREAMHOUSE_SPARK_SECRET",
)


def _spark_text(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


def _place(text: str) -> str:
    """A path that this machine can read; whether anything is there is another question."""
    try:
        Path(text).expanduser()
    except RuntimeError as error:
        raise ValueError(f"{text} is in the home of a user whom this machine does not know") from error
    if "\x00" in text:
        raise ValueError("no path has a NUL")
    return text


Place = Annotated[str, Field(min_length=1), AfterValidator(_place)]


class WarehouseSettings(Frozen):
    """Where the tables of a tier are: a folder (relative to the project) or an object store's URL."""

    warehouse: Place | None = Field(
        default=None,
        description="a folder, relative to the project, or the URL of an object store",
        examples=["/srv/lake/warm", "s3://lake/warm"],
    )


class ColdSettings(WarehouseSettings):
    """As `WarehouseSettings`; a folder, or a catalog, also says which tables there are."""

    catalog: str | None = Field(
        default=None,
        pattern=r"^(https?://|jdbc:)\S+$",
        repr=False,
        description="URL of an Iceberg REST catalog, or a database's (jdbc:postgresql://…); "
        "a warehouse that is no folder needs one",
    )
    credential: str | None = Field(
        default=None,
        pattern=r"^[^:\s]+:\S+$",
        repr=False,
        description="'id:secret' of OAuth2, for a REST catalog; better given as STREAMHOUSE_COLD_CREDENTIAL",
    )
    scope: str | None = Field(
        default=None, min_length=1, description="of OAuth2, such as PRINCIPAL_ROLE:ALL for Polaris"
    )

    @model_validator(mode="after")
    def _who_commits(self) -> Self:
        if self.catalog is None and self.warehouse is not None and not is_local(self.warehouse):
            raise ValueError(
                f"{self.warehouse} needs a catalog: no object store can rename a file, which is how commits to a "
                "folder of tables keep out of each other's way; write 'catalog: http://…' (REST) or "
                "'catalog: jdbc:postgresql://…'"
            )
        if (self.credential or self.scope) and not self.is_rest:
            raise ValueError("credential and scope are for a REST catalog; write 'catalog: http://…'")
        return self

    @property
    def is_rest(self) -> bool:
        """Whether a REST catalog knows which tables there are, and where."""
        return self.catalog is not None and not self.catalog.startswith("jdbc:")


def _allowed(setting: str) -> str:
    if (why := why_ours(setting)) is not None:
        raise ValueError(f"{why}; remove it")
    return setting


def _off(value: Any) -> Any:
    return "off" if value is False else value  # YAML 1.1 reads a plain `off` as false


class SparkSettings(Frozen):
    """Which Spark runs the flows."""

    master: str = Field(
        default="local[*]",
        min_length=1,
        description="where Spark runs",
        examples=["local[4]", "spark://host:7077", "yarn"],
    )
    conf: dict[Annotated[str, AfterValidator(_allowed)], Annotated[str, BeforeValidator(_spark_text)]] = Field(
        default_factory=dict,
        description="further settings of Spark, of those that docs/runner.md lists",
        examples=["{spark.driver.memory: 4g}"],
    )
    shortcuts: Annotated[Literal["auto", "off"] | tuple[Shortcut, ...], BeforeValidator(_off)] = Field(
        default="auto",
        description="faster ways that rest on what is private to Spark: auto (each that gives what Spark's public way "
        "gives), off (none), or the names of those to try",
    )
    secret: str | None = Field(
        default=None,
        min_length=1,
        repr=False,
        description="what the processes of a standalone cluster know each other by; given as STREAMHOUSE_SPARK_SECRET",
    )

    @field_validator("shortcuts")
    @classmethod
    def _reachable(cls, value: str | tuple[Shortcut, ...]) -> str | tuple[Shortcut, ...]:
        for one in () if isinstance(value, str) else value:
            if one in NEEDS and NEEDS[one] not in value:
                raise ValueError(f"{one} goes through {NEEDS[one]}; name that one too")
        return value

    @property
    def requested_shortcuts(self) -> frozenset[Shortcut]:
        """Those that are to be tried."""
        if self.shortcuts == "off":
            return frozenset()
        return frozenset(Shortcut) if self.shortcuts == "auto" else frozenset(self.shortcuts)


class FlussLogin(Frozen):
    """Who logs in to an external Fluss cluster, by SASL; the password is STREAMHOUSE_FLUSS_PASSWORD."""

    mechanism: Literal["PLAIN"] = Field(default="PLAIN", description="of SASL; Fluss knows no other")
    user: str | None = Field(default=None, min_length=1, description="absent: no login")


class AutoApply(StrEnum):
    """Which edits of files a flow that was applied takes by itself; the others wait for `streamhouse apply`."""

    OFF = "off"  # none
    SAFE = "safe"  # those that leave every row as it is: no-op and swap
    ALL = "all"  # every one; where it rebuilds or blocks, a person is asked first


class ModelSettings(Frozen):
    """Which language model `streamhouse ask` may ask, and what one ask may take; its key is STREAMHOUSE_MODEL_KEY."""

    model: str | None = Field(
        default=None,
        pattern=r"^[a-z][a-z0-9/-]*:\S+$",
        description="provider:name, such as openai:gpt-5 or anthropic:claude-sonnet-4-5; absent: no model is asked",
    )
    url: str | None = Field(
        default=None,
        pattern=r"^https?://[^\s/]\S*$",
        description="of a server that speaks OpenAI's protocol: http://localhost:11434/v1; absent: the provider's",
    )
    tries: int = Field(default=3, ge=1, le=20, description="how many answers a model may give")
    tokens: int = Field(default=60_000, ge=1, description="in and out, over all tries")
    seconds: float = Field(default=60, gt=0, description="of waiting for the model, over all tries")
    cost_usd: float = Field(default=0.5, ge=0, description="over all tries, as far as the price is known")

    @model_validator(mode="after")
    def _where(self) -> Self:
        if self.url is not None and (self.model or "").startswith("anthropic:"):
            raise ValueError("a server at a url speaks OpenAI's protocol; write 'model: openai:NAME'")
        return self


AnyConnection = Annotated[Connection | SchemaRegistry | TablesConnection | S3Connection, Field(discriminator="kind")]


class Settings(Frozen):
    """The settings of a project; all have defaults that need nothing but this machine."""

    fluss: str | None = Field(
        default=None,
        pattern=r"^[^\s:,]+:[0-9]+(,[^\s:,]+:[0-9]+)*$",
        description="host:port of an external Fluss cluster; absent: an embedded one",
    )
    fluss_login: FlussLogin = Field(default=FlussLogin(), description="who logs in to an external Fluss cluster")
    warm: WarehouseSettings = Field(default=WarehouseSettings(), description="where the Paimon tables are")
    cold: ColdSettings = Field(default=ColdSettings(), description="where the Iceberg tables are")
    object_store: ObjectStore = Field(default=ObjectStore(), description="how the lakes reach an object store")
    state: str | None = Field(
        default=None, min_length=1, repr=False, description="database URL; absent: SQLite in the project"
    )
    ivy_settings: Annotated[Path, BeforeValidator(lambda value: _place(str(value)))] | None = Field(
        default=None, description="Ivy settings file of a company mirror"
    )
    spark: SparkSettings = Field(default=SparkSettings(), description="which Spark runs the flows")
    connections: dict[Annotated[str, Field(pattern=NAME)], AnyConnection] = Field(
        default_factory=dict,
        description="databases whose changes flows read, registries of schemas, lakes whose tables flows read, and "
        "object stores with files, by the names that sources give",
    )
    data_folders: tuple[Place, ...] = Field(
        default=(),
        description="folders outside of the project whose files sources may read, such as [/srv/landing]",
    )
    secret_variables: PermittedVariables = Field(
        default_factory=dict,
        description="variables of the environment that flows may name as secrets, beside STREAMHOUSE_SECRET_*: names, "
        "or names with the servers that may get them",
        examples=["{KAFKA_PASSWORD: ['kafka-1:9093']}"],
    )
    auto_apply: Annotated[AutoApply, BeforeValidator(_off)] = Field(
        default=AutoApply.OFF,
        description="which edits of files flows take by themselves: off (all wait for 'streamhouse apply'), safe "
        "(no-op and swap are taken) or all",
    )
    rebuild_budget: ByteSize | None = Field(
        default=None,
        ge=0,
        description="a table whose history is larger, such as 50GB, is rebuilt only when a person says so",
    )
    keep_old_versions: Duration = Field(
        default=timedelta(days=1),
        description="how long a rebuilt table keeps the version that served before",
    )
    keep_snapshots: Duration | None = Field(
        default=None,
        description="how far back a query may ask what a warm or cold table was; upkeep removes older snapshots; "
        "absent: a day, but no more than a few snapshots and files",
    )
    upkeep_every: Duration = Field(
        default=timedelta(minutes=10),
        description="how often 'streamhouse run' and runners keep up the tables of their flows; forever: never",
    )
    patience: Duration = Field(
        default=timedelta(minutes=2),
        description="how long a flow tries again while a store does not answer, before it stops",
    )

    models: ModelSettings = Field(
        default=ModelSettings(), description="the language model that may read wishes which cannot be read without one"
    )
    autopilot: AutopilotSettings = Field(default=AutopilotSettings(), description="the limits of the autopilot")

    @property
    def databases(self) -> dict[str, Connection]:
        """The connections that captures read from."""
        return {name: one for name, one in self.connections.items() if isinstance(one, Connection)}

    @model_validator(mode="after")
    def _who_asks_for_a_login(self) -> Self:
        if self.fluss_login.user is not None and self.fluss is None:
            raise ValueError("fluss_login is for an external Fluss: say where it is with 'fluss: host:port'")
        return self


def settings_of_environment() -> dict[str, tuple[str, ...]]:
    """Variable of the environment → path of the setting that it replaces."""
    return dict(_FROM_ENVIRONMENT)


def jars_of(settings: Settings) -> tuple[Jar, ...]:
    """The jars that Spark needs for the lakes of a project, by where these are: folder, object store, catalog."""
    cold = settings.cold
    return spark_jars(
        warm_in_store=is_object_store(settings.warm.warehouse or ""),
        cold_in_store=cold.is_rest or is_object_store(cold.warehouse or ""),
        catalog=cold.catalog,
    )


def load_settings(root: Path, environment: Mapping[str, str] | None = None) -> Settings:
    """The settings of the project at `root`; a variable of the environment wins over the file.

    Args:
        root: Folder of the project; it need not hold `streamhouse.yaml`.
        environment: Holds `STREAMHOUSE_*`; None: that of the process.

    Raises:
        UnknownKeyError: the file has a key that is no setting.
        FileFormatError: it is no YAML, or a value does not fit.
        DefinitionErrors: several of these.
    """
    settings = _from_file(root / FILE_NAME)
    variables = os.environ if environment is None else environment
    for variable in (*_FROM_ENVIRONMENT, _SPARK_CONF):
        if not is_text(variables.get(variable, "")):
            raise FileFormatError(f"the environment variable {variable} is no text in UTF-8", hint="set it again")
    for variable, path in _FROM_ENVIRONMENT.items():
        if variables.get(variable):
            settings = _replaced(settings, path, variables[variable], variable)
    if variables.get(_SPARK_CONF):
        settings = _with_spark_conf(settings, variables[_SPARK_CONF])
    if settings.ivy_settings is not None:
        settings = settings.model_copy(update={"ivy_settings": root / settings.ivy_settings.expanduser()})
    return settings


_OF_SETTINGS = {path: variable for variable, path in _FROM_ENVIRONMENT.items()} | {
    ("fluss_login", "password"): "STREAMHOUSE_FLUSS_PASSWORD",
    ("models", "key"): "STREAMHOUSE_MODEL_KEY",
    ("models", "api_key"): "STREAMHOUSE_MODEL_KEY",
}


def _refuse_secrets(document: Document, problems: Problems) -> None:
    """What a file holds, all see who have the project."""
    refuse_secrets(document, problems, _remedy, named=_is_secret)


def _remedy(path: KeyPath) -> str:
    if path[0] == "connections":
        return "say where it is: password: {environment: NAME} or {file: PATH}"
    variable = _SPARK_CONF if path[:2] == ("spark", "conf") else _OF_SETTINGS.get(tuple(map(str, path)))
    return f"give it as the environment variable {variable}" if variable else "give it by the environment"


def _is_secret(path: KeyPath) -> bool:
    """Whether a setting whose name says so holds a secret; what is Kubernetes' own names Secrets, and does not."""
    key = str(path[-1])
    return why_ours(key) is None and not key.startswith("spark.kubernetes.")


def _is_hidden(path: KeyPath, text: str) -> bool:
    """Whether a value was refused as a secret."""
    return url_holds_secret(text) or (_is_secret(path) and names_secret(str(path[-1])))


def _from_file(file: Path) -> Settings:
    try:
        text = regular_text(file)
    except FileNotFoundError:
        return Settings()
    except OSError as error:
        raise FileFormatError(f"{file.name} cannot be read: {(error.strerror or 'unknown cause').lower()}") from error
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{file.name} is not UTF-8 text", hint="save it as UTF-8") from error
    if all(line.split("#")[0].strip() in ("", "---") for line in text.splitlines()):
        return Settings()  # comments only: every default holds
    problems = Problems()
    document = read_yaml(text, file.name, problems=problems)
    if not isinstance(document.data, dict):
        raise FileFormatError(
            "settings are 'key: value' lines", at=document.value_at(()), hint=f"known keys: {', '.join(_keys())}"
        )
    _refuse_secrets(document, problems)
    check_doors(document, file.parent, problems, hidden=_is_hidden)
    known = keep_known(document.data, Settings, document, problems)
    settings = build(Settings, known, document, problems)
    problems.raise_any()
    return settings or Settings()


def _replaced(settings: Settings, path: tuple[str, ...], value: str, variable: str) -> Settings:
    data = settings.model_dump()
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    try:
        return Settings.model_validate(data)
    except ValidationError as error:
        shown = "what it is" if variable in _SECRET else f"'{value}'"
        raise FileFormatError(
            f"the environment variable {variable} cannot be {shown}",
            hint=error.errors()[0]["msg"].removeprefix("Value error, "),
        ) from (None if variable in _SECRET else error)  # the error holds the value


def _with_spark_conf(settings: Settings, text: str) -> Settings:
    """Settings of Spark on top of those of the file. They may be secret: no message shows them."""
    try:
        spark = settings.spark.model_copy(update={"conf": {**settings.spark.conf, **_conf(json.loads(text))}})
    except ValidationError as error:
        for wrong in error.errors(include_input=False):
            if wrong["loc"][-1] == "[key]":
                raise FileFormatError(
                    f"the environment variable {_SPARK_CONF} may not have '{wrong['loc'][1]}'",
                    hint=wrong["msg"].removeprefix("Value error, "),
                ) from None
        raise _no_conf() from None
    except (ValueError, TypeError):
        raise _no_conf() from None
    return settings.model_copy(update={"spark": spark})


def _no_conf() -> FileFormatError:
    return FileFormatError(
        f"the environment variable {_SPARK_CONF} is no JSON object of settings",
        hint='write it like {"spark.driver.memory": "4g"}',
    )


def _conf(value: object) -> dict[str, str]:
    return SparkSettings.model_validate({"conf": value}).conf


def _keys() -> list[str]:
    return sorted(Settings.model_fields)
