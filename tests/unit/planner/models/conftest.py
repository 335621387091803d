import pytest

pytest.importorskip("pydantic_ai")


@pytest.fixture(autouse=True)
def _no_model_is_asked_but_a_scripted_one(monkeypatch):
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", False)
    for name in ("STREAMHOUSE_MODEL_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "STREAMHOUSE_MODEL"):
        monkeypatch.delenv(name, raising=False)
