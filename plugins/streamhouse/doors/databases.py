"""What the URL of a database in `streamhouse.yaml` may say besides where it is. Pure."""

from urllib.parse import parse_qsl, unquote, urlsplit

from streamhouse.doors.setting import Door, Kind, RefusedSetting, group, refuse

_SSL = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_CODE = "the driver makes an object of the class that it names"
_FILE = "the driver opens or writes the file that it names"
_LOGIN = "it is about logins of this machine"
_OTHER_SESSION = "sessions of another kind are not what Streamhouse needs"
_OTHER_RESULTS = "it decides how the driver asks and answers, which the catalog's own library does"
_ENVIRONMENT = "give the whole URL as the environment variable {}: it is for the person who runs Streamhouse"

CATALOG = Door(
    system="a JDBC catalog in PostgreSQL",
    elsewhere=_ENVIRONMENT.format("STREAMHOUSE_COLD_CATALOG"),
    taken=dict(
        [
            *group("who logs in", Kind.TEXT, "user"),
            *group("what the database shows of us", Kind.TEXT, "ApplicationName", pattern=r"[\w .-]+"),
            *group("the schema of the catalog's tables", Kind.TEXT, "currentSchema", pattern=r"\w+(,\w+)*"),
            *group("whether the connection is encrypted", Kind.CHOICE, "sslmode", choices=_SSL),
            *group("whether the connection is encrypted", Kind.BOOLEAN, "ssl"),
            *group("which server of several is taken", Kind.CHOICE, "targetServerType",
                choices=("any", "primary", "master", "secondary", "slave", "preferSlave", "preferSecondary",
                         "preferPrimary")),
            *group("how a connection is kept", Kind.BOOLEAN, "tcpKeepAlive tcpNoDelay loadBalanceHosts"),
            *group("how long the driver waits", Kind.NUMBER, """
                connectTimeout socketTimeout loginTimeout cancelSignalTimeout hostRecheckSeconds"""),
            *group("how statements are sent", Kind.NUMBER, """
                prepareThreshold preparedStatementCacheQueries preparedStatementCacheSizeMiB defaultRowFetchSize
                sendBufferSize receiveBufferSize maxSendBufferSize"""),
            *group("how long the driver waits", Kind.NUMBER, "sslResponseTimeout"),
            *group("how a connection is encrypted, and proves who logs in", Kind.CHOICE, "sslNegotiation",
                choices=("postgres", "direct")),
            *group("how a connection is encrypted, and proves who logs in", Kind.CHOICE, "channelBinding",
                choices=("disable", "prefer", "require")),
        ]
    ),
    refused=dict(
        [
            *refuse("it is a secret, which no file of a project may hold", "password sslpassword"),
            *refuse(_CODE, """
                socketFactory socketFactoryArg sslfactory sslfactoryarg sslhostnameverifier sslpasswordcallback
                authenticationPluginClassName xmlFactoryFactory"""),
            *refuse(_FILE, "loggerFile loggerLevel service sslcert sslkey sslrootcert"),
            *refuse(_LOGIN, """
                jaasApplicationName jaasLogin kerberosServerName useSpnego gsslib gssEncMode sspiServiceClass
                localSocketAddress gssResponseTimeout gssUseDefaultCreds"""),
            *refuse("the URL has it before the '?'", "PGHOST PGPORT PGDBNAME"),
            *refuse("it changes settings of the session", "options"),
            *refuse(_OTHER_SESSION, "replication readOnly readOnlyMode assumeMinServerVersion groupStartupParameters"),
            *refuse(_OTHER_RESULTS, """
                adaptiveFetch adaptiveFetchMaximum adaptiveFetchMinimum allowEncodingChanges autosave binaryTransfer
                binaryTransferDisable binaryTransferEnable cleanupSavepoints convertBooleanToNumeric
                databaseMetadataCacheFields databaseMetadataCacheFieldsMiB disableColumnSanitiser escapeSyntaxCallMode
                hideUnprivilegedObjects maxResultBuffer preferQueryMode protocolVersion quoteReturningIdentifiers
                reWriteBatchedInserts stringtype unknownLength"""),
            *refuse("it decides what is logged", "logServerErrorDetail logUnclosedConnections"),
        ]
    ),
)  # fmt: skip

STATE = Door(
    system="the database of the state",
    elsewhere=_ENVIRONMENT.format("STREAMHOUSE_STATE"),
    taken=dict(
        [
            *group("whether the connection is encrypted", Kind.CHOICE, "sslmode", choices=_SSL),
            *group("what the database shows of us", Kind.TEXT, "application_name", pattern=r"[\w .-]+"),
            *group("how long the driver waits", Kind.NUMBER, """
                connect_timeout tcp_user_timeout keepalives_idle keepalives_interval keepalives_count"""),
            *group("how a connection is kept", Kind.CHOICE, "keepalives", choices=("0", "1")),
            *group("which server of several is taken", Kind.CHOICE, "target_session_attrs",
                choices=("any", "read-write", "read-only", "primary", "standby", "prefer-standby")),
            *group("which server of several is taken", Kind.CHOICE, "load_balance_hosts",
                choices=("disable", "random")),
            *group("how a connection is encrypted", Kind.CHOICE, "sslnegotiation", choices=("postgres", "direct")),
            *group("how a connection is encrypted", Kind.CHOICE, "sslsni", choices=("0", "1")),
            *group("how a connection is encrypted", Kind.CHOICE,
                "ssl_min_protocol_version ssl_max_protocol_version", choices=("TLSv1.2", "TLSv1.3")),
            *group("what the server must do to know who logs in", Kind.CHOICE, "channel_binding",
                choices=("disable", "prefer", "require")),
            *group("what the server must do to know who logs in", Kind.TEXT, "require_auth", pattern=r"[a-z0-9!,-]+"),
        ]
    ),
    refused=dict(
        [
            *refuse("it is a secret, which no file of a project may hold", """
                password sslpassword scram_client_key scram_server_key oauth_client_secret"""),
            *refuse("libpq would ask a person at a terminal to log in", "oauth_issuer oauth_client_id oauth_scope"),
            *refuse(_FILE, """
                passfile service servicefile sslcert sslkey sslrootcert sslcrl sslcrldir sslkeylogfile vfs uri"""),
            *refuse("SQLAlchemy loads the code that it names", "plugin"),
            *refuse("the URL has it before the '?'", "host hostaddr port user dbname"),
            *refuse(_LOGIN, "krbsrvname gsslib gssencmode gssdelegation requirepeer sslcertmode"),
            *refuse("it changes settings of the session", "options client_encoding"),
            *refuse(_OTHER_SESSION, "replication min_protocol_version max_protocol_version"),
            *refuse("'application_name' says the same", "fallback_application_name"),
            *refuse("it has no effect in the PostgreSQL of today", "sslcompression"),
        ]
    ),
)  # fmt: skip

_DRIVERS = ("sqlite", "postgresql", "postgresql+psycopg")


def check_catalog(url: str) -> None:
    """Check the URL of a catalog.

    Raises:
        RefusedSetting: it has a parameter that is not taken. The URL is not in the message.
    """
    if not url.startswith("jdbc:"):
        return
    if not url.startswith("jdbc:postgresql://"):
        raise RefusedSetting("a catalog by JDBC is in PostgreSQL: jdbc:postgresql://…", CATALOG.elsewhere)
    _check(CATALOG, url.removeprefix("jdbc:"))


def check_state(url: str) -> None:
    """Check the URL of the state's database.

    Raises:
        RefusedSetting: it is of another kind of database, or has a parameter that is not taken.
    """
    if url.partition(":")[0] not in _DRIVERS:
        raise RefusedSetting(f"the state is in one of {', '.join(_DRIVERS)}", STATE.elsewhere)
    _check(STATE, url)


def _check(door: Door, url: str) -> None:
    try:
        query = urlsplit(url).query
    except ValueError:  # it is no URL, which its driver says
        return
    if "?" in unquote(url.partition("?")[0]) or "#" in url or ";" in url:
        raise RefusedSetting("the URL has a character that its place does not need", door.elsewhere)
    for name, value in parse_qsl(query, keep_blank_values=True):
        door.check(name, value)
