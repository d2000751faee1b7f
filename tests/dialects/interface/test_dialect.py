"""Names of a dialect in telemetry."""

import pytest

from engine import dialects


@pytest.mark.parametrize(
    ("dialect", "operation", "name"),
    [
        ("openai", "openai.createChatCompletion", "chat"),
        ("openai", "openai.createImage", "createImage"),
        ("gemini", "google.embedContent", "embeddings"),
        ("plain", "shop.getItem", "getItem"),
        ("plain", "getItem", "getItem"),
    ],
)
def test_the_operation_has_the_name_of_the_conventions_or_its_own(dialect, operation, name):
    assert dialects.get(dialect).gen_ai_operation(operation) == name


@pytest.mark.parametrize(("dialect", "provider"), [("gemini", "gcp.gemini"), ("plain", "east")])
def test_the_provider_is_that_of_the_dialect_or_the_upstream(dialect, provider):
    assert dialects.get(dialect).gen_ai_provider("east") == provider


@pytest.mark.parametrize(
    ("dialect", "path", "task"),
    [
        ("openai", "/chat/completions", "chat"),
        ("openai", "/completions", "completion"),
        ("openai", "/deployments/x/embeddings", "embedding"),
        ("anthropic", "/messages/count_tokens", "chat"),
        ("gemini", "/models/{model}:streamGenerateContent", "chat"),
        ("gemini", "/models/{model}:batchEmbedContents", "embedding"),
        ("openai", "/responses/compact", "chat"),
        ("openai", "/decisions", "chat"),
        ("openai", "/images/variations", "image"),
        ("openai", "/files", ""),
        ("plain", "/items", ""),
    ],
)
def test_the_task_of_a_path(dialect, path, task):
    assert dialects.get(dialect).task(path) == task
