"""How a client logs in to a Fluss cluster that asks for it: SASL with the mechanism PLAIN, the only one."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from streamhouse.errors import EnvironmentProblem
from streamhouse.stores.fluss.wire import proto

PASSWORD = "STREAMHOUSE_FLUSS_PASSWORD"
MECHANISM = "PLAIN"


@dataclass(frozen=True)
class Login:
    """A user of a Fluss cluster."""

    user: str
    password: str = field(repr=False)

    @classmethod
    def of(cls, user: str | None, environment: Mapping[str, str] | None = None) -> Self | None:
        """With the password from the environment; None: without a user nobody logs in.

        Args:
            user: As the settings name them.
            environment: Holds the password; None: that of the process.

        Raises:
            EnvironmentProblem: there is no password.
        """
        if user is None:
            return None
        password = (os.environ if environment is None else environment).get(PASSWORD)
        if not password:
            raise EnvironmentProblem(
                f"the password of {user} for Fluss is not set", hint=f"give it as the environment variable {PASSWORD}"
            )
        return cls(user, password)

    @property
    def request(self) -> bytes:
        """The body of the request that logs in over a connection."""
        return proto.encode((1, MECHANISM), (2, b"\0" + self.user.encode() + b"\0" + self.password.encode()))

    @property
    def options(self) -> dict[str, str]:
        """Options of Fluss's client."""
        return {
            "security.protocol": "sasl",
            "security.sasl.mechanism": MECHANISM,
            "security.sasl.username": self.user,
            "security.sasl.password": self.password,
        }
