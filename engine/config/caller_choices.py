"""What callers of an upstream can choose besides the model, and what its config permits.

The choices are those of the upstream's `provider`; without one, of the provider whose URL has the
same host; if none or several have it, also of the vendor of the dialect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from urllib.parse import urlsplit

from engine.config import providers
from engine.config.providers import CallerChoice
from engine.source.suggestion import did_you_mean

EVERY = "*"
"""Stands for all choices in a config."""


@cache
def known_choices(provider: str, url: str, dialect: str) -> tuple[CallerChoice, ...]:
    """The choices that callers of an upstream are known to have, each once."""
    names = (provider,) if provider else _by_address(url, dialect)
    choices = {choice.name: choice for name in names for choice in providers.read(name).choices}
    return tuple(choices.values())


def _by_address(url: str, dialect: str) -> tuple[str, ...]:
    vendor = (dialect,) if dialect in providers.names() else ()
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:  # the check of addresses notes it
        host = ""
    served = providers.of_host(host)
    # at an address of several, such as this machine's, may also be a proxy of the vendor
    return served if len(served) == 1 else tuple(dict.fromkeys((*served, *vendor)))


def unpermitted(
    choices: Sequence[CallerChoice], permitted: Sequence[str]
) -> tuple[CallerChoice, ...]:
    """The choices that a config does not permit by their names."""
    if EVERY in permitted:
        return ()
    return tuple(choice for choice in choices if choice.name not in permitted)


def unknown_choices(
    permitted: Sequence[str], choices: Sequence[CallerChoice]
) -> Iterator[tuple[int, str, str]]:
    """The index of each name in a config that no choice has, with a message and a hint."""
    names = [choice.name for choice in choices]
    otherwise = f"it has {', '.join(names)}" if names else "remove it: they can choose nothing here"
    for index, name in enumerate(permitted):
        if name not in (EVERY, *names):
            message = f"callers of this upstream have no choice '{name}'"
            yield index, message, did_you_mean(name, names, otherwise)
