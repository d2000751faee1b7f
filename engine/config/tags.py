"""`tags:` of gateway.yaml: what the ledger notes of requests, by name."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from engine.source.problem import Findings, Path, Source
from engine.source.suggestion import did_you_mean
from engine.values.quota_sharers import Sharer, read_sharing
from engine.values.trees import Json

_HEADER, _BODY = "$request.header.", "$request.body#"
RESERVED = frozenset(
    {"token", "team", "model", "served", "upstream", "day", "operation", "status", "outcome"}
    | {"price", "client", "client_version", "session", "via", "tag"}
)
"""Names by which `modelway usage` groups otherwise."""


class Tag(Struct, frozen=True):
    """A tag's name, and the part of the request that has its value."""

    name: str
    place: Sharer

    def __str__(self) -> str:
        """`customer: header:x-customer of shop`."""
        trusted = self.place.trusted
        return f"{self.name}: {self.place}" + (f" of {', '.join(trusted)}" if trusted else "")


def read_tags(section: Json, source: Source, findings: Findings) -> tuple[Tag, ...]:
    """The entries of `tags:`; what a schema cannot express goes to the findings."""
    tags = []
    for name, entry in section.items():
        at: Path = ("tags", name)
        if name in RESERVED:
            message = f"'{name}' is a grouping of `modelway usage`"
            findings.error(source, at, "MW517", message, "choose another name", key=True)
            continue
        try:
            (place,) = read_sharing({"by": _place(entry)}).sharers
        except ValueError as error:
            message = str(error).replace("'by' counts by", "a tag has").replace("by: ", "")
            message = message.removesuffix("; write a list for several")
            findings.error(source, at, "MW517", message)
        else:
            tags.append(Tag(name, place))
    return tuple(tags)


def check_tags(
    names: Sequence[str], at: Path, section: Json, source: Source, findings: Findings
) -> None:
    """Note the names at a place of the config that `tags:` does not have."""
    for index, name in enumerate(names):
        if name not in section:
            hint = did_you_mean(name, section, "add it to `tags`, or remove it here")
            message = f"there is no tag '{name}'"
            findings.error(source, (*at, index), "MW517", message, hint)


def _place(entry: str | Json) -> Json:
    """The place that an entry names, as `by` of a limit does."""
    if isinstance(entry, str):
        if entry.startswith(_HEADER):
            return {"header": entry.removeprefix(_HEADER)}
        return {"body": entry.removeprefix(_BODY)}
    return entry
