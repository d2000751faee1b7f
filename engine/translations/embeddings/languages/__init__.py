"""The languages of embeddings, one file each. Read `embeddings.py` first."""

from __future__ import annotations

from functools import cache

from engine.translations.embeddings.language import EmbeddingLanguage
from engine.values.discovery import Plugins

_LANGUAGES: Plugins[EmbeddingLanguage] = Plugins(__name__, "LANGUAGE", EmbeddingLanguage)


@cache
def embedding_languages() -> tuple[EmbeddingLanguage, ...]:
    """Every language of embeddings, by its name."""
    return tuple(_LANGUAGES.all())
