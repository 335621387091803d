"""Which names belong to secrets, and texts without them. Pure."""

import re

_NAMES = re.compile(
    r"(?i)(secret|password|passwd|passphrase|token|credentials?|authorization|api[._-]?key|private[._-]?key"
    r"|secret[._-](access[._-])?key|access[._-]?key|account[._-]?key|key[._]pem|sas|jaas[._]config|oauthbearer[._]config"
    r"|user[._]info)$",
    re.UNICODE,
)
_USER_INFO = re.compile(r"(?i)\b([a-z][a-z0-9+.-]*:/{1,2})[^\s'\":]*:[^\s'\"]*@", re.UNICODE)
_ASSIGNED = re.compile(
    r"(?i)((?:password|passwd|pwd|passphrase|token|secret|credential|api[_-]?key|access[_-]?key|signature)\w*=)"
    r"(?!…)[^\s&;,'\"]+",
    re.UNICODE,
)
_URL = re.compile(r"(?i)\b(?:jdbc:|[a-z][a-z0-9+.-]*:/{1,2})", re.UNICODE)
HIDDEN = "***"


def names_secret(setting: str) -> bool:
    """Whether what a setting of this name holds is a secret.

    Example:
        >>> [names_secret(name) for name in ("sasl.password", "s3.secret-access-key", "security.protocol")]
        [True, True, False]
    """
    return bool(_NAMES.search(setting))


def holds_secret(value: str) -> bool:
    """Whether a text has a password in it, as URLs may.

    Example:
        >>> holds_secret("https://me:pass@registry:8081"), holds_secret("https://registry:8081/?schema=1")
        (True, False)
    """
    return masked(value) != value


def url_holds_secret(value: str) -> bool:
    """Whether a text is or has a URL, and a password in it.

    Example:
        >>> [url_holds_secret(url) for url in ("jdbc:postgresql://db/i?user=a&password=b", "mind: password=b")]
        [True, False]
    """
    return bool(_URL.search(value)) and holds_secret(value)


def masked(text: str) -> str:
    """The text, with `***` for each user and password in its URLs.

    Example:
        >>> masked("no driver for postgres://me:p@ss@db/state?password=x")
        'no driver for postgres://***@db/state?password=***'
    """
    return _ASSIGNED.sub(rf"\g<1>{HIDDEN}", _USER_INFO.sub(rf"\g<1>{HIDDEN}@", text))
