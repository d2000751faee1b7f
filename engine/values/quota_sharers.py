"""What requests share a quota: `by: token`, `by: [team, model]`, `by: {header: x-customer}`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from engine.values.http_names import HEADER_NAME
from engine.values.json_pointer import ClaimPlace

_KINDS = ("token", "team", "route", "model", "upstream")
PLACES = ("header", "claim", "body")
"""The kinds of sharers that a request names itself, and so can be any text."""
_MODEL_KINDS = frozenset({"model", "upstream", "body"})

_PLACE = {
    "description": "A part of the request by whose text it counts.",
    "type": "object",
    "additionalProperties": False,
    "minProperties": 1,
    "properties": {
        "header": {
            "description": "A header, of the callers in `trusted`.",
            "type": "string",
            "pattern": rf"^{HEADER_NAME}$",
        },
        "claim": {
            "description": "A claim of the caller's JSON Web Token: tenant, groups[0].",
            "type": "string",
            "minLength": 1,
        },
        "body": {
            "description": "A member of the body, as a JSON Pointer: /metadata/user.",
            "type": "string",
            "pattern": "^/",
        },
        "trusted": {
            "description": "The names of the callers whose header or body is believed, with "
            "wildcards; required for a header. That of others counts as missing.",
            "type": "array",
            "minItems": 1,
            "items": {"type": "string", "minLength": 1},
        },
    },
}
BY = {
    "description": "What shares it: each token (default), team, route, model or upstream, or all; "
    "each text of a header, a claim or a member of the body; or a list: each combination.",
    "default": "token",
    "anyOf": [
        {"type": "string", "enum": [*_KINDS, "all"]},
        _PLACE,
        {
            "type": "array",
            "minItems": 1,
            "maxItems": 4,
            "items": {"anyOf": [{"type": "string", "enum": [*_KINDS]}, _PLACE]},
        },
    ],
}
"""The schema of `by`, the sharers of a quota. Without tokens on a route, `token` is an address."""

MISSING = {
    "description": "Requests without that header, claim or member, or without a team: they share "
    "one count (share, the default), or get 400 (refuse).",
    "type": "string",
    "enum": ["share", "refuse"],
    "default": "share",
}
"""The schema of `missing`, beside `by`."""

SHARING_KEYS = {"by": BY, "missing": MISSING}

NOBODY, OTHERS = "#none", "#others"
"""The names under which requests without a name count, and those of names beyond the bound of
`bounded_names.py`. No name is one of these: see `bounded`."""

MAX_NAME = 64
_PLAIN = re.compile(rf"[!-\"$-{{}}~][ -{{}}~]{{0,{MAX_NAME - 1}}}")


class Sharer(Struct, frozen=True):
    """One thing by which a quota is counted. `kind` is one of `token`, `team`, `route`, `model`,
    `upstream` and PLACES, `name` is that of the header, or the place of the claim or member.
    `trusted` are the callers that are believed, with wildcards, None for all."""

    kind: str
    name: str = ""
    trusted: tuple[str, ...] | None = None

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}" if self.name else self.kind


class Sharing(Struct, frozen=True):
    """Requests share a quota if all `sharers` are the same; without any, all do. Those that do not
    name one of them have a count together, unless `refuses_missing`."""

    sharers: tuple[Sharer, ...] = ()
    refuses_missing: bool = False

    def __str__(self) -> str:
        return "+".join(map(str, self.sharers)) or "all"

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(sharer.kind for sharer in self.sharers)

    @property
    def depends_on_model(self) -> bool:
        """Whether more than the head of a request decides who shares the quota."""
        return not self.kinds.isdisjoint(_MODEL_KINDS)


def shared_by(*kinds: str) -> Sharing:
    """The sharing by kinds that need no name; of all callers together without any."""
    return Sharing(tuple(Sharer(kind) for kind in kinds))


def read_sharing(options: Mapping[str, Any]) -> Sharing:
    """The sharing in the options of a policy, which match SHARING_KEYS. Raises ValueError for what
    they cannot express."""
    by = options.get("by", "token")
    entries = by if isinstance(by, list) else [by]
    sharers = tuple(_sharer(entry) for entry in entries if entry != "all")
    for at, sharer in enumerate(sharers):
        if str(sharer) in map(str, sharers[:at]):
            raise ValueError(f"'{sharer}' is twice in 'by'")
    refuses = options.get("missing", "share") == "refuse"
    if refuses and not any(one.kind in (*PLACES, "team") for one in sharers):
        raise ValueError("'missing' is for a limit by team, header, claim or body")
    return Sharing(sharers, refuses)


def _sharer(entry: str | Mapping[str, Any]) -> Sharer:
    if isinstance(entry, str):
        return Sharer(entry)
    places = [kind for kind in PLACES if kind in entry]
    if len(places) != 1:
        raise ValueError("'by' counts by one of header, claim and body; write a list for several")
    kind = places[0]
    name, trusted = entry[kind], entry.get("trusted")
    if kind == "header" and trusted is None:
        raise ValueError(
            "any caller can send any header: name the tokens that are believed, "
            f"by: {{header: {name}, trusted: [NAME]}}, or all with trusted: ['*']"
        )
    if kind == "claim":
        ClaimPlace.parse(name)
        if trusted is not None:
            raise ValueError("a claim is verified, and needs no 'trusted'")
    name = name.lower() if kind == "header" else name
    return Sharer(kind, name, None if trusted is None else tuple(trusted))


def bounded(text: str) -> str:
    """A text as a name in counters, of at most MAX_NAME characters: itself if it is short and
    printable ASCII, else its hash. Different texts have different names, none is NOBODY or OTHERS,
    and none has a `|`."""
    if not text:
        return NOBODY
    if _PLAIN.fullmatch(text):
        return text
    return "#" + hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
