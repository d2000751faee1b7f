"""Checks the values of a token's fields, from options or from a line of a file.

Each function returns the value, or raises ValueError with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from time import time as current_time
from typing import Any

import click

from engine.values import quota, quota_window, units
from engine.values.admission import check_priority
from engine.values.client_address import networks

_MAX_TIME = 253_402_300_799.0  # the end of the year 9999
_MAX_NAME = 200
_MAX_NOTE = 1000
MAX_CONCURRENCY = 1_000_000


def name(text: str) -> str:
    """The name of a token: one line of visible characters, without surrounding space."""
    if not text.strip():
        raise ValueError("a token needs a name")
    if not text.isprintable() or text != text.strip() or len(text) > _MAX_NAME:
        raise ValueError(
            f"a name has at most {_MAX_NAME} visible characters and no surrounding space"
        )
    return text


def team(text: str) -> str:
    """The name of a team: one line of visible characters, without surrounding space."""
    if not text or not text.isprintable() or text != text.strip() or len(text) > _MAX_NAME:
        raise ValueError(f"a team has 1 to {_MAX_NAME} visible characters and no surrounding space")
    return text


def note(text: str) -> str:
    """A note: one line of text."""
    if text and (not text.isprintable() or len(text) > _MAX_NOTE):
        raise ValueError(f"a note is one line of at most {_MAX_NOTE} visible characters")
    return text


def models(texts: Sequence[str]) -> tuple[str, ...]:
    """Names of models, or wildcards."""
    for text in texts:
        _check_word(text, "a model or wildcard like gpt-4o*")
    return tuple(texts)


def operations(texts: Sequence[str]) -> tuple[str, ...]:
    """Operations, or wildcards."""
    for text in texts:
        _check_word(text, "an operation like openai.createChatCompletion or openai.*")
        if "." not in text and "*" not in text:
            raise ValueError(
                f"'{text}' is not an operation like openai.createChatCompletion or openai.*"
            )
    return tuple(texts)


def ips(texts: Sequence[str]) -> tuple[str, ...]:
    """IP addresses and networks."""
    networks(texts)
    return tuple(texts)


def rate(text: str) -> str:
    """Requests per time."""
    quota.count("requests", text)
    return text


def token_budget(text: str) -> str:
    """Model tokens per time."""
    quota.count("tokens", text)
    return text


def budget(text: str, currency: str) -> str:
    """Money per time, in the gateway's currency."""
    quota.money(text, currency)
    return text


def warn_at(texts: str | Sequence[str]) -> tuple[str, ...]:
    """Shares of the limits at which a warning is written: `80%,100%`."""
    shares = tuple(part.strip() for part in texts.split(",")) if isinstance(texts, str) else texts
    for share in shares:
        if not re.fullmatch(quota_window.SHARE, share):
            raise ValueError(f"'{share}' is not a share like 80%: write 1% to 100%")
    return tuple(shares)


def concurrency(number: object) -> int:
    """Requests at the same time."""
    if isinstance(number, str) and re.fullmatch("[0-9]{1,9}", number):
        number = int(number)
    if type(number) is not int or not 1 <= number <= MAX_CONCURRENCY:
        raise ValueError(f"'{number}' is not a number of requests from 1 to {MAX_CONCURRENCY}")
    return number


def priority(text: str) -> str:
    """The order in the queue of an upstream: low, normal or high."""
    return check_priority(text)


def expiry(text: str, now: float) -> float:
    """Unix seconds of a future time: `90d` from now, the end of `2027-01-31`, or a time in UTC."""
    seconds = now + units.seconds(text) if re.fullmatch(units.DURATION, text) else time(text)
    if not now < seconds <= _MAX_TIME:
        raise ValueError(f"'{text}' is not a time in the future")
    return seconds


def time(value: object) -> float:
    """Unix seconds of a number, of the end of a day, or of a time in ISO 8601 (UTC by default)."""
    if isinstance(value, str):
        try:
            return units.unix_time(value)
        except ValueError as error:
            raise ValueError(f"'{value}' is not a time like 90d or 2027-01-31") from error
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MAX_TIME:
        raise ValueError(f"'{value}' is not a time in Unix seconds or like 2027-01-31")
    return float(value)


def duration(text: str) -> float:
    """Seconds of a duration like `24h`."""
    return units.seconds(text)


def option_callback(check: Callable[[Any], Any], *, many: bool = False) -> Callable[..., Any]:
    """A callback for an option that calls `check`; a ValueError becomes a usage error.

    `many`: the option may be repeated, and each use may have several values, separated by commas.
    """

    def callback(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        if value is None or (many and not value):
            return None
        try:
            return check(_split(value) if many else value)
        except ValueError as error:
            raise click.BadParameter(str(error), ctx, param) from error

    return callback


def limit_options(
    callback: Callable[[Callable[[str], Any]], Callable[..., Any]],
) -> Callable[..., Any]:
    """The options that `create` and `update` share. `callback` makes the callback of a check; that
    of --budget needs the currency, see `check_budget`."""
    options = (
        click.option(
            "--expires", callback=callback(lambda text: expiry(text, current_time())),
            help="When it expires: in 90d, or after a day like 2027-01-31 (UTC).",
        ),
        click.option(
            "--rate", callback=callback(rate), help="Requests per time: 60/1m or 1000/day."
        ),
        click.option(
            "--token-budget", callback=callback(token_budget),
            help="Model tokens per time, like 1000000/1d or 5000000/week.",
        ),
        click.option("--budget", help="Money per time, like '20 USD/month in Europe/Vienna'."),
        click.option(
            "--concurrency", callback=callback(concurrency),
            help="Requests at the same time, like 10.",
        ),
        click.option(
            "--warn-at", callback=callback(warn_at),
            help="Warn when so much of a limit is used: 80%,100%.",
        ),
        click.option("--team", callback=callback(team), help="The team it belongs to."),
        click.option(
            "--priority", callback=callback(priority),
            help="low, normal or high: the order in the queue of an upstream.",
        ),
    )  # fmt: skip

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def check_budget(
    callback: Callable[[Callable[[str], Any]], Callable[..., Any]],
    text: str | None,
    currency: str,
) -> None:
    """Check the value of --budget in the gateway's currency."""
    context = click.get_current_context()
    parameter = next(p for p in context.command.params if p.name == "budget")
    callback(partial(budget, currency=currency))(context, parameter, text)


def _split(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(part.strip() for text in texts for part in text.split(","))


def _check_word(text: str, description: str) -> None:
    if not text or not text.isprintable() or " " in text:
        raise ValueError(f"'{text}' is not {description}")
