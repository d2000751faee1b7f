"""The languages of embeddings, one file for each vendor. Read `openai.py` first."""

from __future__ import annotations

from functools import cache
from itertools import chain

from engine.translations.embeddings.language import EmbeddingLanguage
from engine.values.discovery import Plugins

_LANGUAGES: Plugins[tuple[EmbeddingLanguage, ...]] = Plugins(__name__, "LANGUAGES", tuple)


@cache
def embedding_languages() -> tuple[EmbeddingLanguage, ...]:
    """Every language of embeddings, by its name."""
    return tuple(chain.from_iterable(_LANGUAGES.all()))
