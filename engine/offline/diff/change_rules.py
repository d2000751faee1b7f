"""Rules for the change of one value: its level and its sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from ipaddress import ip_address
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from engine.offline.diff.difference import Effect
from engine.offline.diff.restrictions import additions, listed

_SIZES = (("GB", 10**9), ("GiB", 1024**3), ("MB", 10**6), ("MiB", 1024**2), ("KB", 1000))


def plain(value: Any) -> str:
    """A value as it is written in gateway.yaml."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple | list | set | frozenset):
        names = map(str, sorted(value, key=str) if isinstance(value, set | frozenset) else value)
        return listed(list(names)) or "none"
    return "none" if value is None or value == "" else str(value)


def size(value: int) -> str:
    """A number of bytes as gateway.yaml has it: `25MB`."""
    for unit, factor in _SIZES:
        if value >= factor and value % factor == 0:
            return f"{value // factor}{unit}"
    return f"{value}B"


class ChangeRule(Struct, frozen=True):
    """The rule for the change of one value.

    `level` gets the old and the new value, which differ; it is None for a value without effect, and
    for one that `kinds/<module>.py` compares. `show` formats a value, `absent` is the text for
    None. `sentences` replace the default sentence: by the text of the new value, `null` for None
    and `*` for all others; `{old}` and `{new}` are filled in. `kind` is the stable name of the
    difference, by default made from the path; `weaker` is its name if the level is `weaker`.
    """

    level: Callable[[Any, Any], Effect] | None
    show: Callable[[Any], str] = plain
    sentences: Mapping[str, str] = field(default_factory=dict)
    kind: str = ""
    weaker: str = ""
    module: str = ""
    absent: str = "none"

    def worded(self, **changes: Any) -> ChangeRule:
        """The rule with other words: `show`, `sentences`, `kind`, `weaker`, `absent`."""
        return replace(self, **changes)

    def message(self, key: str, old: Any, new: object) -> str:
        """The sentence for a change."""
        text = "null" if new is None else str(new)
        sentence = self.sentences.get(text, self.sentences.get("*"))
        if sentence is not None:
            return sentence.format(old=old, new=new)
        return f"{key} is {self._value_text(new)}, was {self._value_text(old)}"

    def _value_text(self, value: object) -> str:
        return self.absent if value is None else self.show(value)


CHANGES = ChangeRule(lambda old, new: Effect.CHANGED)
"""No change protects less."""

NEUTRAL = ChangeRule(None)
"""The key has no effect of its own."""


def compared_by(module: str) -> ChangeRule:
    """A key that `kinds/<module>.py` compares."""
    return ChangeRule(None, module=module)


def _weaker_if(test: Callable[[Any, Any], bool], back: Effect = Effect.CHANGED) -> ChangeRule:
    return ChangeRule(lambda old, new: Effect.WEAKER if test(old, new) else back)


def always_weakens() -> ChangeRule:
    """Every change of the value protects less."""
    return _weaker_if(lambda old, new: True)


def higher_weakens() -> ChangeRule:
    """A number that is an upper bound; None is unbounded."""
    return _weaker_if(lambda old, new: old is not None and (new is None or new > old))


def lower_weakens() -> ChangeRule:
    """A number of things that are kept, counted or charged; None is all of them."""
    return _weaker_if(lambda old, new: new is not None and (old is None or new < old))


def weaker_towards(*order: Any, back: Effect = Effect.CHANGED) -> ChangeRule:
    """One of several values, given with the strongest first; `...` stands for all others."""

    def rank(value: object) -> int:
        return order.index(value if value in order else ...)

    return _weaker_if(lambda old, new: rank(new) > rank(old), back)


def removing_weakens() -> ChangeRule:
    """A value that protects while it is set."""
    return _weaker_if(lambda old, new: new is None)


def gaining_weakens(
    covers: Callable[[str, str], bool], opposite: Effect = Effect.CHANGED
) -> ChangeRule:
    """A list of allowed or trusted entries: weaker with an additional entry."""

    def gains(old: Iterable[object], new: Iterable[object]) -> bool:
        return bool(additions(_texts(old), _texts(new), covers))

    return _weaker_if(gains, opposite)


def losing_weakens(also: Sequence[str] = ()) -> ChangeRule:
    """A list of checks or reports: weaker if it loses an entry, or gains one of `also`."""

    def loses(old: Iterable[object], new: Iterable[object]) -> bool:
        additional = set(new) - set(old)
        return bool(set(old) - set(new)) or bool(additional & set(also))

    return _weaker_if(loses)


def plainer_weakens() -> ChangeRule:
    """A URL: weaker if https becomes http."""
    return _weaker_if(lambda old, new: old.startswith("https:") and new.startswith("http:"))


def reached_by_more_weakens() -> ChangeRule:
    """A listen address: weaker if more machines can reach it."""
    return _weaker_if(lambda old, new: _reach(new) > _reach(old))


def _reach(address: str) -> int:
    """0 for no address or a socket in the file system, 1 for loopback, 2 for everything else."""
    if address == "off" or address.startswith("unix:"):
        return 0
    host = address.rpartition(":")[0].strip("[]")
    try:
        return 1 if ip_address(host).is_loopback else 2
    except ValueError:
        return 1 if host == "localhost" else 2


def _texts(values: Iterable[object]) -> list[str]:
    return [str(value) for value in values]
