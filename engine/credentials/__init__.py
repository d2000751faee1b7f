"""The credentials that the gateway sends to upstreams. One file is one kind of credential, found
by its place: it defines `CREDENTIAL`, a value of `interface/credential.py`, and no other
module names it. The folders here are not kinds. Read `interface/credential.py` first.
"""

from __future__ import annotations

from engine.credentials.interface.credential import Context, Credential, CredentialKind
from engine.values.discovery import HINT, Plugins
from engine.values.installed_plugins import CREDENTIALS
from engine.values.trees import Json, Section

__all__ = ["KINDS", "Context", "Credential", "names", "read", "schema"]

KINDS: Plugins[CredentialKind] = Plugins(
    __name__,
    "CREDENTIAL",
    CredentialKind,
    without=("access_tokens", "fetchers", "signatures"),
    group=CREDENTIALS,
)


def names() -> list[str]:
    """The names of all kinds."""
    return KINDS.names()


def read(section: Section, context: Context) -> Credential | None:
    """The credential that a section matching `schema()` describes; None, with a problem in the
    context, unless it has exactly the keys of one kind."""
    for name, problem in KINDS.problems.items():
        if name in section:
            context.error((name,), problem, HINT, "MW113")
            return None
    kinds = [name for name in names() if name in section]
    if len(kinds) != 1 or len(section) != 1 + len(KINDS.get(kinds[0]).more_keys):
        hint = f"write the keys of one kind: {', '.join(names())}"
        context.error((), "a credential has one form", hint)
        return None
    return KINDS.get(kinds[0]).read(section, context)


def schema(*, installed: bool = True) -> Json:
    """The JSON Schema of `credential`, with the keys of all kinds; `installed`: with those that
    distributions bring. A kind that cannot be used takes any value, for which `read` reports it."""
    kinds = {name: KINDS.get(name) for name in KINDS.shipped}
    if installed:
        kinds |= KINDS.installed
    properties: Json = {}
    for name, kind in kinds.items():
        for key, key_schema in {name: kind.schema, **kind.more_keys}.items():
            properties.setdefault(key, key_schema)
    for name in KINDS.problems if installed else ():
        properties.setdefault(name, {"description": "A kind that cannot be used."})
    return {
        "description": "How the gateway authenticates itself to the upstream, in one of these "
        f"forms: {', '.join(kind.form for kind in kinds.values())}.",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "minProperties": 1,
        "dependentRequired": {
            name: [*kind.more_keys] for name, kind in kinds.items() if kind.more_keys
        },
        "x-modelway": {"secret": "value"},
    }
