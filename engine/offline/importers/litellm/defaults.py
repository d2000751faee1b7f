"""Default parameters of LiteLLM's deployments: a `transform` of the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engine.offline.imported_config import ImportedConfig
from engine.offline.imported_parameters import PLACES, fits, number_of
from engine.source.problem import Path
from engine.values.trees import Json

SYNONYMS: Mapping[str, list[str]] = {"max_tokens": ["max_completion_tokens"]}
"""Members that a request may have in place of another: then the default does not apply."""


def read_defaults(
    draft: ImportedConfig, deployments: Mapping[str, Sequence[tuple[Mapping[str, object], Path]]]
) -> None:
    """Add the defaults that all deployments of a model share, and note the others. `deployments`
    are parameters and their places, by the name of the model."""
    for name, deployed in deployments.items():
        values: Json = {}
        for key in PLACES:
            reason = _problem(key, [parameters.get(key) for parameters, _ in deployed])
            for parameters, at in deployed:
                if key in parameters and reason:
                    draft.skip((*at, key), reason)
            if not reason:
                values |= dict(_edits(key, deployed[0][0].get(key)))
        if values:
            body: Json = {"default": values}
            if unless := {key: others for key, others in SYNONYMS.items() if key in values}:
                body["unless"] = unless
            draft.models[name].value["transform"] = {"request": {"body": body}}


def _problem(key: str, values: Sequence[Any]) -> str:
    """Why a default is not imported, "" if it is, or if there is none."""
    if any(value != values[0] for value in values):
        return "the deployments of a model have different values"
    if values[0] is None:
        return ""
    return "" if fits(key, number_of(values[0])) else "not every format of chat takes this value"


def _edits(key: str, value: object) -> Iterator[tuple[str, object]]:
    if value is not None:
        yield from ((place, number_of(value)) for place in PLACES[key])
