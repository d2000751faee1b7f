"""What providers lay under the entries of `upstreams`, as a part of the config that is printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.config import provider_defaults, providers
from engine.config.joined import JoinedDocument, Origin, joined_document
from engine.source.problem import Path
from engine.source.reader import SourceDocument

_FOLDER = "engine/providers"


def with_provider_values(
    document: SourceDocument,
) -> tuple[JoinedDocument, dict[Path, JoinedDocument]]:
    """The config with the values of providers below those of its upstreams, each with its place in
    the provider's file. The transform of a provider applies before that of the entry, so it is no
    part of the entry: the second value has it by the path of the entry, as `{transform: ...}`."""
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
        shipped = Origin(source, ("upstream",))
        if transform := layer.pop("transform", None):
            transforms["upstreams", name] = JoinedDocument(
                file=source.file,
                text=source.text,
                value={"transform": transform},
                origin=shipped,
                files=[source],
            )
        completed[name] = _laid_under(entry, layer, origin.entry(name), shipped)
    joined_config.value = {**joined_config.value, "upstreams": completed}
    return joined_config, transforms


def _laid_under(
    above: Mapping[str, Any], below: Mapping[str, Any], origin: Origin, own: Origin
) -> dict[str, Any]:
    """The mapping `above` with what it lacks of `below`; `origin` gets the places of that."""
    result = dict(above)
    for key, value in below.items():
        if key not in above:
            result[key] = value
            origin.children[key] = own.child(key)
        elif isinstance(value, dict) and isinstance(above[key], dict):
            result[key] = _laid_under(above[key], value, origin.entry(key), own.child(key))
    return result


def _redacted(value: Any, document: SourceDocument) -> Any:
    """A provider's value in which `${...}` stands for what it filled into the variables."""
    if isinstance(value, str):
        return document.redact(value)
    if isinstance(value, list):
        return [_redacted(below, document) for below in value]
    if isinstance(value, dict):
        return {key: _redacted(below, document) for key, below in value.items()}
    return value
