"""Chat between dialects. ONE FOLDER = ONE LANGUAGE OF CHAT, found by its place.

Each language reads requests and answers into the neutral form (`neutral/`) and writes them from it;
no language knows another. Read `language.py` first, then `translation.py`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from engine.translations.language import Language


@cache
def languages() -> tuple[Language, ...]:
    """Every language, by its name."""
    return tuple(
        import_module(f"{__name__}.{module.name}").LANGUAGE
        for module in iter_modules(__path__)
        if module.ispkg and module.name != "neutral"
    )


@cache
def by_dialect() -> dict[str, tuple[str, ...]]:
    """The names of the languages of each dialect, the one to translate into first."""
    names: dict[str, tuple[str, ...]] = {}
    for language in languages():
        names[language.dialect] = (*names.get(language.dialect, ()), language.name)
    return names


def language(name: str) -> Language:
    """The language of that name."""
    return next(each for each in languages() if each.name == name)


def language_of(dialect: str, path: str) -> Language | None:
    """The language of an operation with this path template, None if it is no chat."""
    return next((o for o in languages() if o.dialect == dialect and o.speaks(path)), None)
