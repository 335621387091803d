"""Options that say which topic of Kafka is read, and how we log in."""

from typing import Any, Self

from pydantic import Field, field_validator, model_validator

from streamhouse.doors.kafka import KAFKA
from streamhouse.doors.setting import Kind, RefusedSetting, Setting, shown
from streamhouse.doors.variables import is_variable
from streamhouse.ingest.topic_start import EARLIEST, StartOffsets, checked_start
from streamhouse.model.types import Frozen
from streamhouse.secret import holds_secret, names_secret

_SERVER = r"([A-Za-z0-9_.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\]):[0-9]{1,5}"


class BrokerOptions(Frozen):
    """Options of all that reads a topic."""

    servers: str = Field(pattern=rf"^{_SERVER}(,{_SERVER})*$", description="host:port of some brokers")
    topic: str = Field(min_length=1, description="of which every message is one row")
    properties: dict[str, str] = Field(
        default_factory=dict,
        description="settings of librdkafka, such as security.protocol: SASL_SSL; docs/sources.md lists them",
    )
    secrets: dict[str, str] = Field(
        default_factory=dict,
        description="setting of librdkafka: name of the environment variable that holds it, such as "
        "sasl.password: STREAMHOUSE_SECRET_KAFKA; never the secret itself",
    )
    start: str | StartOffsets = Field(
        default=EARLIEST,
        description="where a flow begins that has read nothing yet: earliest, a time with its zone "
        "(2026-03-01T00:00:00Z), or {offsets: {0: 1200}}",
    )

    @field_validator("start", mode="before")
    @classmethod
    def _start_is_one_place(cls, value: Any) -> str | StartOffsets:
        return checked_start(value)

    @field_validator("properties")
    @classmethod
    def _settings_are_known(cls, value: dict[str, str]) -> dict[str, str]:
        # A plan keeps these settings, and so does everybody who has the file.
        for name, text in value.items():
            known = KAFKA.taken.get(name)
            is_secret = known is not None and known.kind is Kind.SECRET
            if is_secret or names_secret(name) or holds_secret(text):
                raise ValueError(
                    f"'{shown(name)}' is a secret; use `secrets:` with the name of the variable that holds it, "
                    f"such as {shown(name)}: STREAMHOUSE_SECRET_KAFKA"
                )
            _setting(name, text)
        return value

    @field_validator("secrets")
    @classmethod
    def _secrets_are_names(cls, value: dict[str, str]) -> dict[str, str]:
        for name, variable in value.items():
            if _setting(name).kind is not Kind.SECRET:
                raise ValueError(f"'{name}' takes no secret: it is shown; write it under `properties:`")
            if not is_variable(variable):
                raise ValueError(
                    f"'{name}' does not name a variable of the environment, such as STREAMHOUSE_SECRET_KAFKA"
                )
        return value

    @model_validator(mode="after")
    def _says_how_to_log_in(self) -> Self:
        # Without a mechanism librdkafka takes Kerberos, and runs a shell command for its ticket.
        named = {"sasl.mechanism", "sasl.mechanisms"} & self.properties.keys()
        if self.properties.get("security.protocol", "").lower().startswith("sasl") and not named:
            raise ValueError("security.protocol with SASL needs 'sasl.mechanism' beside it")
        return self


def _setting(name: str, text: str | None = None) -> Setting:
    try:
        return KAFKA.setting(name) if text is None else KAFKA.check(name, text)
    except RefusedSetting as error:
        raise ValueError(f"{error}; {error.hint}" if error.hint else str(error)) from None
