"""Finds the authorities that a database's certificate is checked against."""

import ssl
from pathlib import Path

from streamhouse.errors import EnvironmentProblem
from streamhouse.model.connection import Connection
from streamhouse.registry.regular_file import open_regular


def with_authorities(name: str, place: Connection, root: Path) -> Connection:
    """A connection whose `ca` is a whole path, to a file with certificates.

    Args:
        name: Of the connection.
        place: The connection as the settings have it.
        root: The project's folder.

    Raises:
        EnvironmentProblem: the file cannot be read, or has no certificate.
    """
    if place.ca is None:
        return place
    file = (root / place.ca).absolute()
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        open_regular(file).close()
        context.load_verify_locations(cafile=file)
        if not context.cert_store_stats()["x509"]:
            raise ValueError("it has no certificate")
    except (OSError, ValueError) as error:
        cause, hint = (
            f"{type(error).__name__}: {error}",
            "name a file that we may read, with certificates in PEM format",
        )
        if isinstance(error, FileNotFoundError):
            cause, hint = "there is no such file", "put the certificate of the server's authority there"
        message = f"the authorities of connection '{name}': 'ca: {place.ca}' cannot be read: {cause}"
        raise EnvironmentProblem(message, hint=hint) from error
    return place.model_copy(update={"ca": str(file)})
