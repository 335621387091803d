"""The tables of a catalog, found without Spark: in a folder, by a REST service, in a database."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import SplitResult, parse_qsl, urlsplit

from streamhouse.stores.base import NeedsSparkError
from streamhouse.stores.iceberg.file_io import file_io, refuse_lost_bucket
from streamhouse.stores.iceberg.light_failures import of_database
from streamhouse.stores.iceberg.metadata import newest

if TYPE_CHECKING:
    from pyiceberg.catalog.rest import RestCatalog
    from pyiceberg.table import StaticTable
    from pyiceberg.table.metadata import TableMetadata
    from sqlalchemy import Engine, Executable

_EVERY = {"type", "warehouse", "cache-enabled"}
_FILES = {"io-impl", "client.region", "s3.endpoint", "s3.path-style-access"}
_KEYS = {"s3.access-key-id", "s3.secret-access-key", "s3.session-token"}
_WHO = {"credential", "scope", "token", "oauth2-server-uri", "audience", "resource", "prefix"}
_KNOWN = {
    "hadoop": _EVERY,
    "jdbc": _EVERY | _FILES | _KEYS | {"uri", "jdbc.schema-version"},
    "rest": _EVERY | _FILES | _KEYS | _WHO | {"uri"},
}
_HEADER = "header."
_DELEGATION = f"{_HEADER}X-Iceberg-Access-Delegation"
_POSTGRESQL = "jdbc:postgresql://"
_CONNECT_S = "10"  # as long as the driver that Spark has


class Tables(Protocol):
    """The tables of one catalog.

    Attributes:
        secrets: Texts that no message may show.
    """

    secrets: tuple[str, ...]

    def table(self, name: str) -> "StaticTable | None":
        """A table as it is now; None: there is none. What fails is raised as PyIceberg and its like raise it.

        Raises:
            NeedsSparkError: it is not where we look for it.
        """

    def names(self) -> list[str]:
        """The names of all tables, `namespace.table`, in order. What fails is raised as by `table`."""


def tables_of(options: Mapping[str, str], name: str = "cold") -> Tables | None:
    """The tables of a catalog that Spark has; None: what its options say, only Spark understands.

    Args:
        options: Of the Spark catalog.
        name: Of the Spark catalog.
    """
    kind = options.get("type", "")
    keys = {key for key in options if not (kind == "rest" and key.startswith(_HEADER))}
    if keys - _KNOWN.get(kind, set()):
        return None
    if kind == "hadoop":
        return FolderTables(Path(options["warehouse"])) if options["warehouse"].startswith("/") else None
    if kind == "rest":
        return RestTables(options)
    return DatabaseTables(options, name) if _is_simple(options["uri"]) else None


class FolderTables:
    """Those of a Hadoop catalog in a folder of this machine.

    Attributes:
        warehouse: That folder.
    """

    secrets: tuple[str, ...] = ()

    def __init__(self, warehouse: Path) -> None:
        self.warehouse = warehouse

    def table(self, name: str) -> "StaticTable | None":
        """See `Tables`."""
        layer, _, table = name.partition(".")
        found = newest(self.warehouse / layer / table)
        return None if found is None else _static(name, str(found), {})

    def names(self) -> list[str]:
        """See `Tables`."""
        found = {file.parent.parent for file in self.warehouse.glob("*/*/metadata/*.metadata.json*")}
        return sorted(f"{folder.parent.name}.{folder.name}" for folder in found)


class RestTables:
    """Those of a REST service. It is first asked when a table is."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = options
        who, _, secret = options.get("credential", "").partition(":")
        hidden = (
            secret or who,
            options.get("token"),
            options.get("s3.secret-access-key"),
            urlsplit(options["uri"]).password,
        )
        self.secrets = tuple(text for text in hidden if text)
        self._catalog: RestCatalog | None = None

    def table(self, name: str) -> "StaticTable | None":
        """See `Tables`."""
        from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError

        if self._catalog is None:
            self._catalog = self._connected()
        try:
            found = self._catalog.load_table(name)
        except (NoSuchTableError, NoSuchNamespaceError):
            return None
        return _static(name, str(found.metadata_location), {**self._options, **found.io.properties}, found.metadata)

    def names(self) -> list[str]:
        """See `Tables`."""
        if self._catalog is None:
            self._catalog = self._connected()
        found: list[str] = []
        waiting = list(self._catalog.list_namespaces())
        while waiting:
            namespace = waiting.pop()
            waiting += self._catalog.list_namespaces(namespace)
            found += [".".join(table) for table in self._catalog.list_tables(namespace)]
        return sorted(found)

    def _connected(self) -> "RestCatalog":
        from streamhouse.stores.iceberg.rest_client import TimedCatalog

        # By default Iceberg's Java asks for no keys of the object store, and not every catalog has some to give.
        options: dict[str, Any] = {_DELEGATION: None, **self._options}
        if not options.get("credential") and not options.get("token"):
            options["auth"] = {"type": "noop"}
        options.setdefault("oauth2-server-uri", f"{options['uri'].rstrip('/')}/v1/oauth/tokens")
        return TimedCatalog("cold", **options)


class DatabaseTables:
    """Those that a PostgreSQL database lists, as Iceberg's JDBC catalog keeps it."""

    def __init__(self, options: Mapping[str, str], catalog: str) -> None:
        self._options = options
        self._name = catalog
        self._engine: Engine | None = None
        hidden = (_url_parameters(urlsplit(options["uri"].removeprefix("jdbc:"))).get("password"),)
        self.secrets = tuple(text for text in (*hidden, options.get("s3.secret-access-key")) if text)
        self._last: dict[str, StaticTable] = {}

    def table(self, name: str) -> "StaticTable | None":
        """See `Tables`."""
        location = self._location(name)
        if location is None:
            return None
        last = self._last.get(name)
        if last is None or last.metadata_location != location:
            last = self._last[name] = _static(name, location, self._options)
        return last

    def names(self) -> list[str]:
        """See `Tables`."""
        from sqlalchemy import String, column, select, table

        names = (column("table_namespace", String), column("table_name", String))
        query = select(*names).select_from(table("iceberg_tables")).where(column("catalog_name") == self._name)
        return sorted(f"{namespace}.{own}" for namespace, own in self._asked(query))

    def _location(self, name: str) -> str | None:
        from sqlalchemy import String, and_, column, select, table

        layer, _, own = name.partition(".")
        same = and_(
            column("catalog_name") == self._name, column("table_namespace") == layer, column("table_name") == own
        )
        query = select(column("metadata_location", String)).select_from(table("iceberg_tables")).where(same)
        return next((str(row[0]) for row in self._asked(query)), None)

    def _asked(self, query: "Executable") -> Sequence[Any]:
        from sqlalchemy.exc import DBAPIError, ProgrammingError

        if self._engine is None:
            self._engine = self._connected()
        try:
            with self._engine.connect() as connection:
                return connection.execute(query).all()
        except ProgrammingError:  # Iceberg makes its tables when it first connects
            return []
        except DBAPIError as error:
            raise of_database(error, self.secrets) from error

    def _connected(self) -> "Engine":
        from sqlalchemy import URL, NullPool, create_engine

        url = urlsplit(self._options["uri"].removeprefix("jdbc:"))
        parameters = _url_parameters(url)
        known = URL.create(
            "postgresql+psycopg",
            username=parameters.pop("user", None),
            password=parameters.pop("password", None),
            host=url.hostname,
            port=url.port,
            database=url.path.removeprefix("/"),
            query={**parameters, "connect_timeout": _CONNECT_S},
        )
        try:
            return create_engine(known, poolclass=NullPool)
        except ModuleNotFoundError as error:
            raise NeedsSparkError("psycopg, which asks the catalog, is not installed") from error


def _is_simple(uri: str) -> bool:
    """Whether a URL of JDBC says no more than other settings can say."""
    url = urlsplit(uri.removeprefix("jdbc:"))
    one = uri.startswith(_POSTGRESQL) and "," not in url.netloc and "@" not in url.netloc
    return one and _url_parameters(url).keys() <= {"user", "password", "sslmode"}


def _url_parameters(url: SplitResult) -> dict[str, str]:
    return dict(parse_qsl(url.query))


def _static(
    name: str, location: str, options: Mapping[str, str], metadata: "TableMetadata | None" = None
) -> "StaticTable":
    """A table at the metadata it has now, whose files are planned and read by this process."""
    from pyiceberg.catalog.noop import NoopCatalog
    from pyiceberg.serializers import FromInputFile
    from pyiceberg.table import StaticTable

    files = file_io(location, options)
    if metadata is None:
        try:
            metadata = FromInputFile.table_metadata(files.new_input(location))
        except FileNotFoundError:
            refuse_lost_bucket(files, location)
            raise
    return StaticTable((name,), metadata, location, files, NoopCatalog("cold"))
