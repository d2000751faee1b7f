"""The languages of embeddings, one file each. Read `embeddings.py` first."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from engine.translations.embeddings.language import EmbeddingLanguage


@cache
def embedding_languages() -> tuple[EmbeddingLanguage, ...]:
    """Every language of embeddings, by its name."""
    return tuple(
        import_module(f"{__name__}.{module.name}").LANGUAGE for module in iter_modules(__path__)
    )
