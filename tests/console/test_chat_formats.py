"""The chat formats that a plan routes, and the models in each."""

from engine.console.chat_formats import models, routed_formats
from tests.console.conftest import planned


def test_the_shipped_routed_formats(shipped):
    formats = {format_.name: format_ for format_ in routed_formats(shipped)}
    assert list(formats) == ["chat", "responses", "messages", "generate"]
    assert (formats["chat"].path, formats["chat"].prefix) == ("/v1/chat/completions", "/v1")
    assert (formats["messages"].path, formats["messages"].prefix) == ("/v1/messages", "")
    generate = formats["generate"]
    assert generate.path == "/v1beta/models/{model}:generateContent"
    assert generate.stream_path == "/v1beta/models/{model}:streamGenerateContent"
    assert (generate.prefix, generate.version) == ("", "v1beta")


def test_a_mount_moves_the_whole_path(text):
    moved = text.replace("mount: [/v1beta, /v1, /v1alpha]", "mount: /google/v1beta")
    generate = next(
        format_ for format_ in routed_formats(planned(moved)) if format_.name == "generate"
    )
    assert generate.path == "/google/v1beta/models/{model}:generateContent"
    assert (generate.prefix, generate.version) == ("/google", "v1beta")


def test_unrouted_formats_are_not_listed(text):
    without = text.replace("      - openai.createResponse\n", "")
    assert [format_.name for format_ in routed_formats(planned(without))] == [
        "chat",
        "messages",
        "generate",
    ]


def test_a_model_whose_requests_are_translated_has_every_format(text):
    more = "  any: {to: [{upstream: openai}], translate: strict}\n"
    plan = planned(text.replace("  gpt-4o: &", more + "  gpt-4o: &", 1))
    formats = {model["id"]: model["formats"] for model in models(plan, routed_formats(plan))}
    assert formats["any"] == ["chat", "responses", "messages", "generate"]


def test_a_model_has_the_formats_of_its_upstreams(text):
    more = "  mixed: {to: [{upstream: openai}], fallback: [claude-sonnet]}\n"
    plan = planned(text.replace("  gpt-4o: &", more + "  gpt-4o: &", 1))
    formats = {model["id"]: model["formats"] for model in models(plan, routed_formats(plan))}
    assert formats["gpt-4o"] == ["chat", "responses"]
    assert formats["claude-sonnet"] == ["messages"]
    assert formats["gemini-*"] == ["generate"]
    assert formats["mixed"] == ["chat", "responses", "messages"]


def test_a_model_has_the_formats_of_its_operations_and_no_others(shipped):
    entries = models(shipped, routed_formats(shipped))
    formats = {model["id"]: (model["formats"], model["operations"]) for model in entries}
    assert formats["whisper-1"] == ([], ["openai.createTranscription"])
    assert formats["tts-1"] == ([], ["openai.createSpeech"])
    assert formats["text-embedding-3-small"] == ([], ["openai.createEmbedding"])
    assert formats["rerank-v3.5"] == ([], ["rerank.rerank"])
    assert formats["gpt-*"] == (["chat", "responses"], [])
    assert formats["claude-sonnet"] == (["messages"], ["anthropic.countTokens"])
    assert formats["gemini-2.5-flash"] == (["generate"], ["gemini.countTokens"])
