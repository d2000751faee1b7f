"""The features of the languages of embeddings: carried, or refused by name."""

from __future__ import annotations

from engine import translations
from engine.translations.embeddings.languages import embedding_languages
from engine.translations.neutral.language import Feature, RequestLine
from engine.translations.neutral.refusals import LossRules
from engine.values.errors import GatewayError
from tests.support.each import each

LINE = RequestLine(model="alias")


_HINTS = {"user", "taskType", "title"}


def refused_features(caller: str, target: str) -> list[str]:
    """The names of the features of a caller's language that a target cannot be asked for."""
    translation = translations.translation(caller, target)
    features = translation.source.features
    names = []
    for feature in (Feature("", "", {}), *features.features):
        try:
            exchange = translation.request(
                features.request(feature, "alias"), LINE, "m", LossRules()
            )
            assert {each.rpartition(".")[2] for each in exchange.dropped} <= _HINTS
        except GatewayError as error:
            names.append(feature.name if error.param else f"{feature.name}, without its place")
    return names


@each(
    ("caller", "target", "names"),
    [
        ("embeddings", "batch_embed_contents", ["token numbers"]),
        ("embeddings", "embed_content", ["several texts", "token numbers"]),
        (
            "batch_embed_contents",
            "embeddings",
            ["contents of several parts", "images"],
        ),
        (
            "embed_content",
            "embeddings",
            ["contents of several parts", "images"],
        ),
    ],
)
def test_what_cannot_be_asked_is_refused_by_name(
    caller: str, target: str, names: list[str]
) -> None:
    assert refused_features(caller, target) == names


def test_every_language_names_its_features_once() -> None:
    for language in embedding_languages():
        names = [feature.name for feature in language.features.features]
        assert names
        assert len(set(names)) == len(names)
