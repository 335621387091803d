"""The model that settings name, ready to be asked; nothing is sent here."""

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from streamhouse.errors import ModelAwayError
from streamhouse.planner.secrets import KEY
from streamhouse.project.settings import ModelSettings
from streamhouse.secret import masked

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.providers import Provider

_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9_]+_(?:KEY|TOKEN)\b")
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})


def open_model(settings: ModelSettings, environment: Mapping[str, str]) -> "Model":
    """The model.

    Args:
        settings: Name it.
        environment: Has its key: `STREAMHOUSE_MODEL_KEY`, or the variable of its provider, which only the provider
            itself is ever sent.

    Raises:
        ModelAwayError: the packages or the key are missing, or nobody knows the provider.
    """
    assert settings.model is not None
    try:
        from pydantic_ai.exceptions import UserError
        from pydantic_ai.models import infer_model
        from pydantic_ai.providers import infer_provider_class
    except ImportError as error:
        raise ModelAwayError(
            "the packages for models are not installed", hint="pip install 'streamhouse[models]'"
        ) from error
    key = environment.get(KEY) or None
    if settings.url is not None:
        return _at_url(settings.model, settings.url, key)
    try:
        if key is None:
            return infer_model(settings.model)

        def provider(name: str) -> "Provider[Any]":
            kind: Callable[..., Provider[Any]] = infer_provider_class(name)
            return kind(api_key=key)

        return infer_model(settings.model, provider)
    except TypeError as error:
        raise ModelAwayError(f"'{settings.model}' takes no key by {KEY}", hint="set its provider's variable") from error
    except (UserError, ImportError, ValueError) as error:
        variable = _VARIABLE.search(str(error))
        if variable is not None:  # the package's own words are for programmers
            raise ModelAwayError(
                f"'{settings.model}' cannot be asked: it has no key", hint=f"set {KEY}, or {variable[0]}"
            ) from error
        cause = masked(str(error).splitlines()[0] if str(error) else type(error).__name__)
        raise ModelAwayError(f"'{settings.model}' cannot be asked: {cause}", hint=f"its key is {KEY}") from error


def _at_url(model: str, url: str, key: str | None) -> "Model":
    """A server that speaks OpenAI's protocol."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    place = urlsplit(url)
    if key is not None and place.scheme != "https" and place.hostname not in _HERE:
        raise ModelAwayError(f"{KEY} is not sent to {url}: the connection is not encrypted", hint="use https")
    provider = OpenAICompatibleProvider(place.hostname or "local", base_url=url, api_key=key or "none")
    return OpenAIChatModel(model.partition(":")[2], provider=provider)
