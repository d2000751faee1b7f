"""The chat formats that a plan routes, and the models in each."""

from engine.config import providers
from engine.console.chat_formats import example_model, models, routed_formats
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


def test_the_example_is_a_model_without_a_translation():
    entries = [
        {"id": "g-*", "formats": ["chat"], "translated": []},
        {"id": "translated", "formats": ["chat"], "translated": ["chat"]},
        {"id": "native", "formats": ["chat", "messages"], "translated": ["messages"]},
    ]
    assert example_model("chat", entries) == "native"
    assert example_model("messages", entries) == "native"
    assert example_model("responses", entries) == "MODEL"


def test_a_mount_moves_the_whole_path(text):
    moved = text.replace("mount: [/v1beta, /v1, /v1alpha]", "mount: /google/v1beta")
    generate = next(
        format_ for format_ in routed_formats(planned(moved)) if format_.name == "generate"
    )
    assert generate.path == "/google/v1beta/models/{model}:generateContent"
    assert (generate.prefix, generate.version) == ("/google", "v1beta")


def test_unrouted_formats_are_not_listed(without_responses):
    names = [format_.name for format_ in routed_formats(without_responses)]
    assert names == ["chat", "messages", "generate"]


def test_a_model_whose_requests_are_translated_has_every_format(shipped):
    formats = {model["id"]: model["formats"] for model in models(shipped, routed_formats(shipped))}
    for name in ("gpt-4o", "claude-sonnet", "gemini-*"):
        assert formats[name] == ["chat", "responses", "messages", "generate"]


def test_the_formats_that_are_translated_are_named(text):
    more = "  mixed: {to: [{upstream: openai}], fallback: [claude-sonnet]}\n"
    plan = planned(text.replace("  gpt-4o: &", more + "  gpt-4o: &", 1))
    entries = models(plan, routed_formats(plan))
    translated = {model["id"]: model["translated"] for model in entries}
    assert translated["gpt-4o"] == ["messages", "generate"]
    assert translated["claude-sonnet"] == ["chat", "responses", "generate"]
    assert translated["mixed"] == ["chat", "responses", "messages", "generate"]
    assert translated["whisper-1"] == []


def test_a_model_has_the_price_of_the_config_or_of_its_provider(text):
    more = """
  fast-llama: {to: [{upstream: fast, model: llama-3.3-70b-versatile}]}
  "fast/*": {to: [{upstream: fast, model: "*"}]}
"""
    changed = text.replace("  gpt-4o: &", f"{more}  gpt-4o: &", 1)
    groq = "  fast: {provider: groq, credential: {bearer: key}}\n"
    changed = changed.replace("  openai:\n    url", f"{groq}  openai:\n    url", 1)
    plan = planned(changed + "\nprices: {fast/llama-3.1-8b-instant: {input: 7}}\n")
    prices = {entry["id"]: entry.get("price") for entry in models(plan, routed_formats(plan))}
    llama = providers.read("groq").models["llama-3.3-70b-versatile"].price
    assert llama is not None
    for name in ("fast-llama", "fast/llama-3.3-70b-versatile"):
        assert prices[name]["input"] == llama["input"]
    assert prices["fast/llama-3.1-8b-instant"]["input"] == 7
    assert prices["gpt-4o"] is prices["fast/*"] is None


def test_a_model_that_is_not_translated_has_the_formats_of_its_upstreams(text):
    more = """
  native-gpt: {to: [{upstream: openai}], translate: off}
  native-claude: {to: [{upstream: anthropic}], translate: off}
  native-gemini: {to: [{upstream: gemini}], translate: off}
  mixed: {to: [{upstream: openai}], translate: off, fallback: [native-claude]}
"""
    plan = planned(text.replace("  gpt-4o: &", f"{more}  gpt-4o: &", 1))
    formats = {model["id"]: model["formats"] for model in models(plan, routed_formats(plan))}
    assert formats["native-gpt"] == ["chat", "responses"]
    assert formats["native-claude"] == ["messages"]
    assert formats["native-gemini"] == ["generate"]
    assert formats["mixed"] == ["chat", "responses", "messages"]


def test_a_model_has_the_formats_of_its_operations_and_no_others(shipped):
    entries = models(shipped, routed_formats(shipped))
    formats = {model["id"]: (model["formats"], model["operations"]) for model in entries}
    speech_to_text = ["openai.createTranscription", "openai.createTranslation"]
    assert formats["whisper-1"] == ([], speech_to_text)
    assert formats["tts-1"] == ([], ["openai.createSpeech"])
    embeddings = ["openai.createEmbedding", "gemini.embedContent", "gemini.batchEmbedContents"]
    assert formats["text-embedding-3-small"] == ([], embeddings)
    assert formats["rerank-v3.5"] == ([], ["rerank.rerank"])
    every_format = ["chat", "responses", "messages", "generate"]
    of_responses = ["openai.countResponseTokens", "openai.compactResponse"]
    counts = ["anthropic.countTokens", "gemini.countTokens"]
    for name in ("claude-sonnet", "gemini-2.5-flash"):
        assert formats[name] == (every_format, [*of_responses, *counts])
    assert formats["gpt-*"] == (every_format, [*of_responses, "openai.createDecision", *counts])


def test_models_of_a_provider_behind_a_wildcard_have_the_formats_of_their_task(text):
    groq = "  groq: {provider: groq, credential: {bearer: a}}\n"
    more = '  "*": {to: [{upstream: groq}]}\n'
    text = text.replace("upstreams:", "upstreams:\n" + groq + "  # ", 1)
    plan = planned(text.replace("  gpt-4o: &", more + "  gpt-4o: &", 1))
    entries = {model["id"]: model for model in models(plan, routed_formats(plan))}
    llama = entries["llama-3.3-70b-versatile"]
    assert llama["formats"] == ["chat", "responses", "messages", "generate"]
    assert "openai.createTranscription" not in llama["operations"]
    assert entries["whisper-large-v3"]["formats"] == []
    speech_to_text = ["openai.createTranscription", "openai.createTranslation"]
    assert entries["whisper-large-v3"]["operations"] == speech_to_text
    assert list(entries).index("llama-3.3-70b-versatile") > list(entries).index("gemini-*")
