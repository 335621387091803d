"""Records what is sent to a model, word for word."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic_ai.models import Model

Sent = dict[str, Any]
"""One request as JSON: the model, its messages, the forms that it may answer in."""


def recording(model: "Model", record: Callable[[Sent], None]) -> "Model":
    """The same model; `record` gets each request before it leaves, and by an error prevents that."""
    from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.models.wrapper import WrapperModel
    from pydantic_ai.settings import ModelSettings

    class Recording(WrapperModel):
        async def request(
            self,
            messages: list[ModelMessage],
            model_settings: ModelSettings | None,
            model_request_parameters: ModelRequestParameters,
        ) -> ModelResponse:
            record(
                {
                    "model": model.model_name,
                    "messages": ModelMessagesTypeAdapter.dump_python(messages, mode="json"),
                    "answers": {
                        tool.name: tool.parameters_json_schema for tool in model_request_parameters.output_tools
                    },
                }
            )
            return await model.request(messages, model_settings, model_request_parameters)

    return Recording(model)
