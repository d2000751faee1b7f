"""Which languages there are, and which of them translate into one another."""

import pytest

from engine import translations
from engine.translations.embeddings.translation import EmbeddingTranslation
from engine.translations.translation import Translation

CHAT = {
    "anthropic": ("messages",),
    "bedrock": ("converse",),
    "gemini": ("generate_content",),
    "openai": ("chat_completions", "responses"),
}
EMBEDDINGS = {"gemini": ("batch_embed_contents", "embed_content"), "openai": ("embeddings",)}


def test_a_folder_is_a_language_of_chat():
    names = [language.name for language in translations.languages()]
    assert names == ["chat_completions", "generate_content", "messages", "responses"]
    assert [translations.language(name).name for name in names] == names


def test_a_language_may_be_one_of_targets_alone():
    every = [language.name for language in translations.target_languages()]
    assert every == ["chat_completions", "converse", "generate_content", "messages", "responses"]
    assert [translations.target_language(name).name for name in every] == every
    assert translations.language_of("bedrock", "/model/{modelId}/converse") is None


@pytest.mark.parametrize(
    ("name", "by_dialect"),
    [("messages", CHAT), ("chat_completions", CHAT), ("embeddings", EMBEDDINGS)],
)
def test_the_languages_of_a_family_are_its_counterparts(name, by_dialect):
    assert translations.counterparts()[name] == by_dialect


@pytest.mark.parametrize(
    ("dialect", "path", "name"),
    [
        ("openai", "/chat/completions", "chat_completions"),
        ("openai", "/v1/responses", "responses"),
        ("openai", "/embeddings", "embeddings"),
        ("gemini", "/models/{model}:streamGenerateContent", "generate_content"),
        ("anthropic", "/messages", "messages"),
        ("anthropic", "/chat/completions", None),
        ("openai", "/images", None),
    ],
)
def test_an_operation_has_a_language_by_its_dialect_and_path(dialect, path, name):
    language = translations.language_of(dialect, path)
    assert (language and language.name) == name


@pytest.mark.parametrize(
    ("dialect", "path", "name"),
    [
        ("anthropic", "/messages/count_tokens", "messages"),
        ("gemini", "/models/{model}:countTokens", "generate_content"),
        ("openai", "/messages/count_tokens", None),
        ("anthropic", "/messages", None),
    ],
)
def test_an_operation_that_counts_tokens_has_the_language_that_it_counts(dialect, path, name):
    language = translations.counted_language(dialect, path)
    assert (language and language.name) == name


@pytest.mark.parametrize(
    ("source", "target", "kind"),
    [
        ("messages", "responses", Translation),
        ("messages", "converse", Translation),
        ("embeddings", "embed_content", EmbeddingTranslation),
    ],
)
def test_a_translation_is_that_of_its_family(source, target, kind):
    translation = translations.translation(source, target)
    assert isinstance(translation, kind)
    assert (translation.source.name, translation.target.name) == (source, target)


def test_the_end_of_the_path_of_each_language():
    suffixes = translations.path_suffixes()
    assert suffixes["responses"] == "/responses"
    assert suffixes["generate_content"] == ":generateContent"
    assert all(language.name in suffixes for language in translations.target_languages())
