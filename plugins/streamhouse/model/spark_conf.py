"""Settings of Spark that are ours alone, so that no project opens what they keep shut. Pure."""

SHUT = {
    "spark.sql.runSQLOnFiles": "false",  # text.`/path` and its like are no tables
    "spark.sql.variable.substitute": "false",  # ${env:NAME} in a literal is text
    "spark.sql.scripting.enabled": "false",
    "spark.authenticate": "true",  # who talks to the driver or an executor knows its secret
    # Spark's own, with what a catalog of cold tables is reached by, whose URL may hold a password, and our variables.
    "spark.redaction.regex": r"(?i)secret|password|token|access[._]?key|credential|catalog[.]\w+[.]uri|streamhouse_",
}
"""Setting → the value that every session has."""

_READ_OTHERWISE = (
    "spark.sql.parser.",
    "spark.sql.ansi.double",
    "spark.sql.ansi.enforce",
    "spark.sql.ansi.relation",  # a comma in FROM would bind less than JOIN
    "spark.sql.legacy.parser.",
)
_OURS = ("spark.authenticate", "spark.redaction.", "spark.sql.redaction.", "spark.network.crypto.saslfallback")


def why_ours(setting: str) -> str | None:
    """Why a project may not have a setting of this name; None: it may.

    Example:
        >>> why_ours("spark.sql.runSQLOnFiles")
        'Streamhouse sets it itself: it keeps queries from reading anything but tables'
        >>> why_ours("spark.executor.memory")
        >>> why_ours("spark.sql.ansi.relationPrecedence")
        'Spark would read SQL otherwise than it was checked'
    """
    name = setting.strip().lower()
    if name in {key.lower() for key in SHUT} or name.startswith(_OURS):
        return "Streamhouse sets it itself: it keeps queries from reading anything but tables"
    if name.startswith(_READ_OTHERWISE):
        return "Spark would read SQL otherwise than it was checked"
    return None
