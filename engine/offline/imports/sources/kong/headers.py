"""Kong's `request-transformer` and `response-transformer`: the headers that they remove and add.

`add` sets what is missing, as here; a header that is removed and added is set. The other edits
differ from those of `transform` (`rename` overwrites, `replace` needs a value that is there) or
have no counterpart.
https://developer.konghq.com/plugins/request-transformer/
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from engine.config.transforms import TransformConfig
from engine.offline.imports.imported_config import Entry, ImportedConfig
from engine.offline.imports.sources.kong.entities import Plugin, mapping
from engine.offline.imports.sources.kong.upstreams import ENVIRONMENT, reference
from engine.transforms.compile import compile_transform
from engine.transforms.faults import Faults
from engine.values.trees import Json, Section

SIDES = {"request-transformer": "request", "response-transformer": "response"}
_NAME = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
_VARIABLE = re.compile(r"\$\{\w+\}")
_REASONS = {
    "rename": "Kong replaces an existing header, `rename` keeps it",
    "replace": "Kong changes only an existing header, `set` also adds one",
    "headers": "it cannot be edited here",
}


def read_headers(draft: ImportedConfig, plugin: Plugin) -> None:
    """Add a policy with the edits of a plugin, and note those that are not carried. Upstreams
    forward the callers' headers that a request's `add` would leave."""
    side = SIDES[plugin.name]
    removed, added = _removed(plugin.config), _added(plugin.config)
    edits: Json = {
        "remove": [name for name in removed if name not in added],
        "set": {name: value for name, value in added.items() if name in removed},
        "add": {name: value for name, value in added.items() if name not in removed},
    }
    for kind, names in edits.items():
        for name in list(names):
            if not _is_valid(side, {kind: {name: names[name]} if kind != "remove" else [name]}):
                at = (*plugin.at, "config", "remove" if kind == "remove" else "add", "headers")
                draft.skip(at, f"'{name}': {_REASONS['headers']}")
                names.remove(name) if kind == "remove" else names.pop(name)
    edits = {kind: names for kind, names in edits.items() if names}
    if edits:
        policy = {"transform": {side: {"header": edits}}}
        draft.policies.append(Entry(policy, [draft.line((*plugin.at, "name"))]))
    for upstream in draft.upstreams.values() if side == "request" and "add" in edits else ():
        upstream.value["forward_headers"] = list(edits["add"])
    for key, value in plugin.config.items():
        for part in mapping(value) or ("",):
            is_carried = key in ("remove", "add") and part == "headers"
            if value and not is_carried and (part == "" or mapping(value)[part]):
                at = (*plugin.at, "config", key, *([part] if part else []))
                reason = _REASONS.get(key, "") if part == "headers" else ""
                draft.skip(at, reason or "there is no exact counterpart", f"{key} {part}".strip())


def _removed(config: Mapping[str, object]) -> list[str]:
    return [text.lower() for text in _texts(config, "remove")]


def _added(config: Mapping[str, object]) -> dict[str, str]:
    """Values by name, as templates: of `name:value` the first one with a name counts."""
    values: dict[str, str] = {}
    for text in _texts(config, "add"):
        name, _, value = text.partition(":")
        values.setdefault(name.strip().lower(), _template(value.strip()))
    return values


def _texts(config: Mapping[str, object], kind: str) -> list[str]:
    """The headers of one kind of edit. Raises ValueError for another value."""
    texts = mapping(config.get(kind)).get("headers") or []
    if not isinstance(texts, list):
        raise ValueError(f"{kind}.headers is not a list")
    return [str(text) for text in texts]


def _template(text: str) -> str:
    """A text as `transform` writes it; variables of the environment are `${VAR}`."""
    parts = re.split(r"(\$\{\{.*?\}\}|\{vault://[^}]*\})", text)
    return "".join(_part(part) for part in parts)


def _part(text: str) -> str:
    if match := ENVIRONMENT.fullmatch(text):
        return reference(match)
    return text.replace("{", "{{").replace("}", "}}").replace("${", "$${")


def _is_valid(side: str, edit: Section) -> bool:
    """Whether `check` takes an edit of one header. Kong's templates, `$(...)`, have no counterpart;
    a variable of the environment stands for any text."""
    text = str(edit)
    names = [name for names in edit.values() for name in names]
    if "$(" in text or not all(_NAME.fullmatch(name) for name in names):
        return False
    faults = Faults()
    filled = {
        kind: {k: _VARIABLE.sub("x", v) for k, v in names.items()} if kind != "remove" else names
        for kind, names in edit.items()
    }
    config = TransformConfig({side: {"header": filled}}, ())
    compile_transform(config, upstream=False, faults=faults)
    return not faults.found
