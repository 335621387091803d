"""Keeps what is sent to a model, word for word."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic_ai.models import Model

Sent = dict[str, Any]
"""One request as JSON: the model, its messages, the forms that it may answer in."""


def recording(model: "Model", sent: list[Sent]) -> "Model":
    """The same model; each request is added to `sent` before it leaves."""
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
            sent.append(
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
