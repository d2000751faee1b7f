"""Operations and providers by OpenTelemetry's names."""

import pytest

from engine.telemetry.tracing.genai import operation_name, provider_name


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        ("openai.createChatCompletion", "chat"),
        ("anthropic.createMessage", "chat"),
        ("gemini.streamGenerateContent", "generate_content"),
        ("openai.createEmbedding", "embeddings"),
        ("openai.createImage", "createImage"),
        ("orders.GET /orders", "GET /orders"),
    ],
)
def test_an_operation_has_the_conventions_name_or_its_own(operation, name):
    assert operation_name(operation) == name


def test_a_provider_is_told_by_the_dialect_or_is_the_upstream_itself():
    assert provider_name("west", "gemini") == "gcp.gemini"
    assert provider_name("orders", "") == "orders"
