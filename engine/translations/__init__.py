"""Chat and embeddings between dialects. ONE FOLDER = ONE LANGUAGE OF CHAT, found by its place.

Each language reads requests and answers into the neutral form (`neutral/`) and writes them from it;
no language knows another. Read `language.py` first, then `translation.py`. The languages of
embeddings are the modules of `embeddings/languages/`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from itertools import chain
from pkgutil import iter_modules

from engine.translations.embeddings.language import EmbeddingLanguage
from engine.translations.embeddings.languages import embedding_languages
from engine.translations.embeddings.translation import (
    EmbeddingExchange,
    EmbeddingTranslation,
    NoStream,
)
from engine.translations.language import BaseLanguage, Language
from engine.translations.translation import StreamTranslator, TranslatedExchange, Translation

AnyTranslation = Translation | EmbeddingTranslation
AnyExchange = TranslatedExchange | EmbeddingExchange
AnyStreamTranslator = StreamTranslator | NoStream


_NO_LANGUAGES = ("embeddings", "neutral")


@cache
def languages() -> tuple[Language, ...]:
    """Every language of chat, by its name."""
    return tuple(
        import_module(f"{__name__}.{module.name}").LANGUAGE
        for module in iter_modules(__path__)
        if module.ispkg and module.name not in _NO_LANGUAGES
    )


def families() -> tuple[tuple[Language, ...] | tuple[EmbeddingLanguage, ...], ...]:
    """The languages that are translated into one another."""
    return languages(), embedding_languages()


@cache
def counterparts() -> dict[str, dict[str, tuple[str, ...]]]:
    """The languages into which each language is translated, itself among them, by their dialects;
    the one to translate into first."""
    return {language.name: _by_dialect(family) for family in families() for language in family}


def _by_dialect(family: Iterable[BaseLanguage]) -> dict[str, tuple[str, ...]]:
    names: dict[str, tuple[str, ...]] = {}
    for language in family:
        names[language.dialect] = (*names.get(language.dialect, ()), language.name)
    return names


def language(name: str) -> Language:
    """The language of chat of that name."""
    return next(each for each in languages() if each.name == name)


def language_of(dialect: str, path: str) -> BaseLanguage | None:
    """The language of an operation with this path template, None if it is never translated."""
    every: Iterable[BaseLanguage] = chain.from_iterable(families())
    return next((each for each in every if each.dialect == dialect and each.speaks(path)), None)


def counted_language(dialect: str, path: str) -> Language | None:
    """The language whose requests an operation with this path template counts, None for another
    operation."""
    counts = ((each, each.token_count) for each in languages() if each.dialect == dialect)
    return next(
        (each for each, count in counts if count and path.endswith(count.path_suffix)), None
    )


def translation(source: str, target: str) -> AnyTranslation:
    """The translation from one language into another of its family."""
    if source in {each.name for each in languages()}:
        return Translation(language(source), language(target))
    names = {each.name: each for each in embedding_languages()}
    return EmbeddingTranslation(names[source], names[target])
