"""Why there is no session in a database, by what drivers and the engines of captures say of it. Pure.

A server says it in its own language (`lc_messages`), so the code of its error counts where the text is not known. What
a driver says itself, such as that a host is not known, has no code and is in English.
"""

import re
from dataclasses import dataclass

from streamhouse.ingest.project_file import SETTINGS


@dataclass(frozen=True)
class DatabaseTrouble:
    """Why a database cannot be asked.

    Attributes:
        what: A short sentence.
        remedy: What a person can do.
        ends_by_itself: Whether it may end without a change of the settings or of the server's.
    """

    what: str
    remedy: str
    ends_by_itself: bool = False


NO_ANSWER = DatabaseTrouble(
    "the database does not answer", f"does it run, and is its address under 'connections' in {SETTINGS} right?", True
)
"""Nothing more is known."""

_CONNECTION = f"see the connection in {SETTINGS}"
_ONLY_WITH_TLS = DatabaseTrouble(
    "the server lets this user in only with TLS", "write 'tls: require', or 'verify-full' and 'ca'"
)
_NOT_FROM_HERE = DatabaseTrouble(
    "the server does not let this user in from this machine",
    "permit the user, the database and this machine in the server (pg_hba.conf, user@host); where it asks for "
    "TLS, write 'tls: require'",
)
_USER = DatabaseTrouble(
    "the server refuses the user or the password",
    f"see 'user', where 'password' is, and whether the user needs 'tls: require'; {_CONNECTION}",
)
_NOT_LET_IN = DatabaseTrouble(
    "the server does not let this user in",
    f"see 'user' in the connection in {SETTINGS}; permit the user, the database and this machine in the server "
    "(pg_hba.conf); where it asks for TLS, write 'tls: require'",
)
_NO_DATABASE = DatabaseTrouble("the server has no such database", f"see 'database'; {_CONNECTION}")
_MAY_NOT_CONNECT = DatabaseTrouble(
    "the user may not connect to the database", "GRANT CONNECT ON DATABASE … TO that user"
)
_NOT_YET = DatabaseTrouble("the server starts or ends at this moment", "wait until it runs, or see its log", True)
_FULL = DatabaseTrouble(
    "the server has as many sessions as it takes",
    "wait, or let it take more: max_connections, or max_user_connections of this user",
    True,
)
_BY_CODE: dict[str | int, DatabaseTrouble] = {
    "28P01": _USER,
    "28000": _NOT_LET_IN,
    "3D000": _NO_DATABASE,
    "42501": _MAY_NOT_CONNECT,
    "53300": _FULL,
    "57P03": _NOT_YET,
    1040: _FULL,
    1045: _USER,
    1049: _NO_DATABASE,
    1130: _NOT_FROM_HERE,
    1203: _FULL,
    1226: _FULL,
    1698: _USER,
    3159: _ONLY_WITH_TLS,
}
"""SQLSTATE of PostgreSQL, or number of an error of MariaDB and MySQL, where a session did not come about."""
_EACH = [
    # The certificate: what is wrong with it comes before that the check failed.
    (
        (
            r"does not match host name|hostname mismatch|IP address mismatch|doesn't match|subject alternative|"
            r"No name matching"
        ),
        DatabaseTrouble(
            "the certificate of the server is for another host",
            "write 'host' as the certificate names it, or let 'tls: verify-ca' not compare names",
        ),
    ),
    (
        r"certificate has expired|certificate is not yet valid|CertificateExpired|CertificateNotYetValid",
        DatabaseTrouble("the certificate of the server is not valid now", "renew it, or see the clock of this machine"),
    ),
    (
        (
            r"certificate verify failed|self.signed certificate|unable to get local issuer|PKIX path|"
            r"unable to find valid certification path|CertPathValidator"
        ),
        DatabaseTrouble(
            "the certificate of the server is not trusted",
            "let 'ca' of the connection name the file with its authority",
        ),
    ),
    (
        (
            r"requires a valid client certificate|certificate.required|alert bad certificate|alert unknown ca|"
            r"bad_certificate|certificate_unknown|unknown_ca"
        ),
        DatabaseTrouble(
            "the server refuses the certificate of this client",
            "let it ask the user for a password and no certificate: Streamhouse has none",
        ),
    ),
    (
        r"does not support SSL|SSL is required but|server doesn't support it|Server does not support SSL",
        DatabaseTrouble("the server has no TLS", "switch TLS on in the server, or write 'tls: disable'"),
    ),
    (
        r"insecure transport",
        _ONLY_WITH_TLS,
    ),
    (
        r"handshake_failure|handshake failure|protocol.version|no protocols available|wrong version number",
        DatabaseTrouble("the server and this client agree on no version of TLS", "see the TLS settings of the server"),
    ),
    (
        r"root certificate file .* does not exist|could not read root certificate file",
        DatabaseTrouble(
            "there is no file with the authorities that the server may have its certificate from",
            "let 'ca' of the connection name it",
        ),
    ),
    # Who may come in.
    (
        r"no pg_hba\.conf entry|pg_hba\.conf rejects|is not allowed to connect to this",
        _NOT_FROM_HERE,
    ),
    (
        (
            r"password authentication failed|authentication failed|\(using password|no password supplied|"
            r"password was provided|role \".*\" does not exist|not permitted to log in|Access denied for user .*@\S+$"
        ),
        _USER,
    ),
    (
        r"database \".*\" does not exist|Unknown database",
        _NO_DATABASE,
    ),
    (
        r"permission denied for database",
        _MAY_NOT_CONNECT,
    ),
    # Whether it takes sessions now.
    (
        r"the database system is (starting up|shutting down|in recovery|not yet accepting)",
        _NOT_YET,
    ),
    (
        r"too many clients|too many connections|remaining connection slots",
        _FULL,
    ),
    # Where it is.
    (
        (
            r"failed to resolve host|could not translate host name|Name or service not known|name resolution|"
            r"getaddrinfo|UnknownHost|Name does not resolve|No address associated"
        ),
        DatabaseTrouble("the name of the host is not known", f"see 'host'; {_CONNECTION}", True),
    ),
    (
        r"Connection refused",
        DatabaseTrouble(
            "no server answers at this port", f"does it run, and are 'host' and 'port' right? {_CONNECTION}", True
        ),
    ),
    (
        r"invalid response to|expected authentication request",
        DatabaseTrouble("another program answers at this port", f"see 'port'; {_CONNECTION}"),
    ),
    (
        r"timeout expired|timed out|No route to host|unreachable",
        DatabaseTrouble(
            "the host does not answer", f"see 'host', and what is between it and this machine; {_CONNECTION}", True
        ),
    ),
]
_PATTERNS = [(re.compile(pattern, re.IGNORECASE | re.ASCII), trouble) for pattern, trouble in _EACH]


def code_of(error: BaseException) -> str | int | None:
    """The code of an error of psycopg (a SQLSTATE) or PyMySQL (a number); None: it has none.

    Example:
        >>> code_of(ValueError(1045, "a text"))
        1045
    """
    number = next(iter(error.args), None)
    if isinstance(number, int):
        return number  # PyMySQL has a SQLSTATE as well, and it says less
    sqlstate = getattr(error, "sqlstate", None)
    return None if sqlstate is None else str(sqlstate)


def trouble_of(said: str, code: str | int | None = None) -> DatabaseTrouble | None:
    """What a driver or an engine says of a session that did not come about; None: something else.

    Args:
        said: The text; it may be in any language.
        code: Of the error (`code_of`).

    Example:
        >>> trouble_of('FATAL:  database "shop" does not exist').what
        'the server has no such database'
    """
    found = next((trouble for pattern, trouble in _PATTERNS if pattern.search(said)), None)
    return found or (None if code is None else _BY_CODE.get(code))


def explained(said: str, remedy: str, code: str | int | None = None) -> tuple[str, str]:
    """What a driver or an engine says, behind its cause, and the remedy of that; without a known cause as given.

    Args:
        said: The text; it may be in any language.
        remedy: Where no cause is known.
        code: Of the error (`code_of`).

    Example:
        >>> explained('FATAL:  database "shop" does not exist', "see the log")[0]
        'the server has no such database: FATAL:  database "shop" does not exist'
    """
    trouble = trouble_of(said, code)
    return (said, remedy) if trouble is None else (f"{trouble.what}: {said}", trouble.remedy)
