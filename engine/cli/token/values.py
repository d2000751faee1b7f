"""What may stand in a token, said by options or by a line of a file: ValueError in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import click

from engine.values import quota, units
from engine.values.client_address import networks

_DAY = 86_400.0
_LATEST = 253_402_300_799.0  # the year 9999
_LONGEST = 200
MOST_AT_A_TIME = 1_000_000


def split(texts: Sequence[str]) -> tuple[str, ...]:
    """What was said by repeating, by commas, or both."""
    return tuple(part.strip() for text in texts for part in text.split(","))


def name(text: str) -> str:
    """A token's name: one line that can be seen, without space around it."""
    if not text.strip():
        raise ValueError("a token needs a name")
    if not text.isprintable() or text != text.strip() or len(text) > _LONGEST:
        raise ValueError(
            f"a name is at most {_LONGEST} visible characters, without space around it"
        )
    return text


def note(text: str) -> str:
    """A note: any words on one line."""
    if text and (not text.isprintable() or len(text) > 5 * _LONGEST):
        raise ValueError(f"a note is one line of at most {5 * _LONGEST} visible characters")
    return text


def models(texts: Sequence[str]) -> tuple[str, ...]:
    """Models' names or wildcards."""
    for text in texts:
        _word(text, "a model or wildcard like gpt-4o*")
    return tuple(texts)


def operations(texts: Sequence[str]) -> tuple[str, ...]:
    """Operations or wildcards over them."""
    for text in texts:
        _word(text, "an operation like openai.createChatCompletion or openai.*")
        if "." not in text and "*" not in text:
            raise ValueError(f"'{text}' is no operation like openai.createChatCompletion, openai.*")
    return tuple(texts)


def ips(texts: Sequence[str]) -> tuple[str, ...]:
    """Addresses and networks."""
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
    """Money per time, in the currency that is counted in."""
    quota.money(text, currency)
    return text


def concurrency(number: object) -> int:
    """Requests at one time."""
    if isinstance(number, str) and re.fullmatch("[0-9]{1,9}", number):
        number = int(number)
    if type(number) is not int or not 1 <= number <= MOST_AT_A_TIME:
        raise ValueError(f"'{number}' is no number of requests from 1 to {MOST_AT_A_TIME}")
    return number


def expiry(text: str, now: float) -> float:
    """`90d` from now, the end of `2027-01-31`, or a moment of it; in UTC, and still to come."""
    if re.fullmatch(units.DURATION, text):
        found = now + units.seconds(text)
    else:
        found = moment(text)
    if not now < found <= _LATEST:
        raise ValueError(f"'{text}' is not a time that is still to come")
    return found


def moment(said: object) -> float:
    """Unix seconds of a number, a day (its end) or a moment in ISO 8601; UTC unless it says so."""
    if isinstance(said, str):
        try:
            found = datetime.fromisoformat(said)
            seconds = (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError) as error:
            raise ValueError(f"'{said}' is no time like 90d or 2027-01-31") from error
        return seconds + _DAY if len(said) == len("2027-01-31") else seconds
    if isinstance(said, bool) or not isinstance(said, int | float) or not 0 <= said <= _LATEST:
        raise ValueError(f"'{said}' is no time in Unix seconds or like 2027-01-31")
    return float(said)


def duration(text: str) -> float:
    """Seconds of `24h`."""
    return units.seconds(text)


def checked(check: Callable[[Any], Any], *, many: bool = False) -> Callable[..., Any]:
    """A callback for an option: what `check` makes of it, its ValueError as wrong usage."""

    def callback(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        if value is None or (many and not value):
            return None
        try:
            return check(split(value) if many else value)
        except ValueError as error:
            raise click.BadParameter(str(error), ctx, param) from error

    return callback


def _word(text: str, wanted: str) -> None:
    if not text or not text.isprintable() or " " in text:
        raise ValueError(f"'{text}' is not {wanted}")
