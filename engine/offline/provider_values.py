"""The values of providers under the entries of `upstreams`, for printing the effective config."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.config import provider_defaults, providers
from engine.config.joined_document import JoinedDocument, Origin, joined_document
from engine.source.problem import Path
from engine.source.reader import SourceDocument
from engine.values.trees import Json, Section, map_leaves

_FOLDER = "engine/providers"


def with_provider_values(
    document: SourceDocument,
) -> tuple[JoinedDocument, dict[Path, JoinedDocument]]:
    """The config with the values of providers in its upstreams, each with its place in the
    provider's file. The transform of a provider applies before that of the entry, so it is not
    merged: the second value has it by the path of the entry, as `{transform: ...}`."""
    joined_config = document if isinstance(document, JoinedDocument) else joined_document(document)
    transforms: dict[Path, JoinedDocument] = {}
    upstreams = joined_config.value.get("upstreams")
    if not isinstance(upstreams, dict):
        return joined_config, transforms
    origin = joined_config.origin.entry("upstreams")
    completed = dict(upstreams)
    for name, entry in upstreams.items():
        provider = entry.get("provider") if isinstance(entry, dict) else None
        if provider not in providers.names():
            continue
        layer = _redacted(provider_defaults.layer(providers.read(provider), entry), joined_config)
        file = providers.document(provider)
        source = SourceDocument(f"{_FOLDER}/{provider}.yaml", file.text, file.value)
        provider_origin = Origin(source, ("upstream",))
        if transform := layer.pop("transform", None):
            transforms["upstreams", name] = JoinedDocument(
                file=source.file,
                text=source.text,
                value={"transform": transform},
                origin=provider_origin,
                files=[source],
            )
        completed[name] = _merged(entry, layer, origin.entry(name), provider_origin)
    joined_config.value = {**joined_config.value, "upstreams": completed}
    return joined_config, transforms


def _merged(
    above: Section, below: Mapping[str, object], origin: Origin, below_origin: Origin
) -> Json:
    """The mapping `above` with the keys of `below` that it lacks; their places are added to
    `origin`."""
    result = dict(above)
    for key, value in below.items():
        if key not in above:
            result[key] = value
            origin.children[key] = below_origin.child(key)
        elif isinstance(value, dict) and isinstance(above[key], dict):
            result[key] = _merged(above[key], value, origin.entry(key), below_origin.child(key))
    return result


def _redacted(value: object, document: SourceDocument) -> Any:
    """A provider's value with `${...}` in place of the values of the variables."""
    redact = document.redact
    return map_leaves(value, lambda _, leaf: redact(leaf) if isinstance(leaf, str) else leaf)
