"""The languages of embeddings, one file for each vendor. Read `openai.py` first."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from engine.translations.embeddings.language import EmbeddingLanguage


@cache
def embedding_languages() -> tuple[EmbeddingLanguage, ...]:
    """Every language of embeddings, by its name."""
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    return tuple(language for module in modules for language in module.LANGUAGES)
