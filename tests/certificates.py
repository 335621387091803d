"""Certificates for servers of tests."""

import subprocess
from pathlib import Path

from streamhouse.services.ports import LOOPBACK


def certificates(folder: Path) -> tuple[Path, Path, Path]:
    """An authority's certificate, and a certificate of it for the loopback address and its name, with its key."""
    ca, ca_key, certificate, key = (folder / name for name in ("ca.pem", "ca.key", "own.pem", "own.key"))
    new = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2")
    name = ("-addext", f"subjectAltName=IP:{LOOPBACK},DNS:localhost")
    for command in (
        [*new, "-subj", "/CN=authority", "-keyout", str(ca_key), "-out", str(ca)],
        [
            *(*new, "-subj", "/CN=broker", *name, "-CA", str(ca), "-CAkey", str(ca_key)),
            *("-addext", "basicConstraints=critical,CA:FALSE", "-keyout", str(key), "-out", str(certificate)),
        ],
    ):
        subprocess.run(command, check=True, capture_output=True)
    return ca, certificate, key
