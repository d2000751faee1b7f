"""Chat and embeddings between dialects. ONE FOLDER = ONE LANGUAGE OF CHAT, found by its place: it
reads and writes the neutral form (`neutral/`) and knows no other language. One that no caller
speaks only writes requests and reads answers. `embeddings/languages/` has those of embeddings,
`vendors/` what several languages of one vendor share.
Read `neutral/language.py` first, then `translation.py`.

Modules of one name do the same in each language: `request_shapes.py` declares what is read of
requests, `request_reader.py` and `content_reader.py` read them, `request_writer.py` and
`content_writer.py` write them; `answer_fields.py` declares what is read of answers, which
`answer_reader.py` and `answer_writer.py` read and write; `models.py` has what models accept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cache

from engine.translations.embeddings.languages import embedding_languages
from engine.translations.embeddings.translation import (
    EmbeddingExchange,
    EmbeddingTranslation,
    NoStream,
)
from engine.translations.neutral.language import BaseLanguage, Language, TargetLanguage
from engine.translations.neutral.request_json import make_decoders
from engine.translations.translation import StreamTranslator, TranslatedExchange, Translation
from engine.translations.vendors.model_parameters import facts
from engine.values.discovery import Plugins

AnyTranslation = Translation | EmbeddingTranslation
AnyExchange = TranslatedExchange | EmbeddingExchange
AnyStreamTranslator = StreamTranslator | NoStream

_LANGUAGES: Plugins[TargetLanguage] = Plugins(
    __name__, "LANGUAGE", TargetLanguage, folders=True, without=("embeddings", "neutral", "vendors")
)


MISPLACED = {"chat_completions": "responses"}
"""The language of requests that callers send to the operation of another one: Cursor does."""


@cache
def languages() -> tuple[Language, ...]:
    """Every language of chat that callers speak, by its name."""
    return tuple(each for each in target_languages() if isinstance(each, Language))


@cache
def target_languages() -> tuple[TargetLanguage, ...]:
    """All languages of chat: targets speak each of them. Sorted by name."""
    return tuple(_LANGUAGES.all())


@cache
def counterparts() -> dict[str, dict[str, tuple[str, ...]]]:
    """The languages of the family of each language of callers, itself included, by their dialects;
    the preferred one first."""
    chat, embeddings = _by_dialect(target_languages()), _by_dialect(embedding_languages())
    return {each.name: chat for each in languages()} | {
        each.name: embeddings for each in embedding_languages()
    }


@cache
def path_suffixes() -> dict[str, str]:
    """The suffix of the path of each language's operation, by the language's name."""
    return {each.name: each.path_suffix for each in (*target_languages(), *embedding_languages())}


def _by_dialect(family: Iterable[BaseLanguage]) -> dict[str, tuple[str, ...]]:
    names: dict[str, tuple[str, ...]] = {}
    for language in family:
        names[language.dialect] = (*names.get(language.dialect, ()), language.name)
    return names


def language(name: str) -> Language:
    return next(each for each in languages() if each.name == name)


def target_language(name: str) -> TargetLanguage:
    return next(each for each in target_languages() if each.name == name)


def preload(dialects: Collection[str]) -> None:
    """Read what models accept: else the first request that is translated would wait for it."""
    make_decoders()
    for each in target_languages():
        for provider in each.providers if each.dialect in dialects else ():
            facts(provider)


def language_of(dialect: str, path: str) -> BaseLanguage | None:
    """The language of an operation with this path template, None if it is never translated."""
    every = (*languages(), *embedding_languages())
    return next((each for each in every if each.dialect == dialect and each.speaks(path)), None)


def counted_language(dialect: str, path: str) -> Language | None:
    """The language whose tokens an operation with this path counts, None if it counts none."""
    for each in languages():
        count = each.token_count
        if each.dialect == dialect and count and path.endswith(count.path_suffix):
            return each
    return None


def translation(source: str, target: str) -> AnyTranslation:
    if source in {each.name for each in languages()}:
        other = language(MISPLACED[source]) if source in MISPLACED else None
        return Translation(language(source), target_language(target), other)
    names = {each.name: each for each in embedding_languages()}
    return EmbeddingTranslation(names[source], names[target])
