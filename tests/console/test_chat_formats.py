"""Which formats a plan routes, and which models speak them."""

from engine.console.chat_formats import models, routed_formats
from tests.console.conftest import planned


def test_the_shipped_routed_formats(shipped):
    found = {one.name: one for one in routed_formats(shipped)}
    assert list(found) == ["chat", "responses", "messages", "generate"]
    assert (found["chat"].path, found["chat"].prefix) == ("/v1/chat/completions", "/v1")
    assert (found["messages"].path, found["messages"].prefix) == ("/v1/messages", "")
    generate = found["generate"]
    assert generate.path == "/v1beta/models/{model}:generateContent"
    assert generate.stream_path == "/v1beta/models/{model}:streamGenerateContent"
    assert (generate.prefix, generate.version) == ("", "v1beta")


def test_a_mount_moves_all_of_it(text):
    moved = text.replace("mount: [/v1beta, /v1, /v1alpha]", "mount: /google/v1beta")
    generate = next(one for one in routed_formats(planned(moved)) if one.name == "generate")
    assert generate.path == "/google/v1beta/models/{model}:generateContent"
    assert (generate.prefix, generate.version) == ("/google", "v1beta")


def test_what_is_not_routed_is_not_offered(text):
    without = text.replace("      - openai.createResponse\n", "")
    assert [one.name for one in routed_formats(planned(without))] == [
        "chat",
        "messages",
        "generate",
    ]


def test_a_model_speaks_what_its_servers_speak(text):
    more = "  mixed: {to: [{upstream: openai}], fallback: [claude-sonnet]}\n"
    plan = planned(text.replace("  gpt-4o: &", more + "  gpt-4o: &", 1))
    found = {one["id"]: one["formats"] for one in models(plan, routed_formats(plan))}
    assert found["gpt-4o"] == ["chat", "responses"]
    assert found["claude-sonnet"] == ["messages"]
    assert found["gemini-*"] == ["generate"]
    assert found["mixed"] == ["chat", "responses", "messages"]


def test_a_model_has_the_formats_of_its_operations_and_no_others(shipped):
    offered = models(shipped, routed_formats(shipped))
    found = {one["id"]: (one["formats"], one["operations"]) for one in offered}
    assert found["whisper-1"] == ([], ["openai.createTranscription"])
    assert found["tts-1"] == ([], ["openai.createSpeech"])
    assert found["text-embedding-3-small"] == ([], ["openai.createEmbedding"])
    assert found["rerank-v3.5"] == ([], ["rerank.rerank"])
    assert found["gpt-*"] == (["chat", "responses"], [])
    assert found["claude-sonnet"] == (["messages"], ["anthropic.countTokens"])
    assert found["gemini-2.5-flash"] == (["generate"], ["gemini.countTokens"])
