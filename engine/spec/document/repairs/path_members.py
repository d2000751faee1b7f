"""Bodies that require a variable of the path again, which SDKs do not send (Google's `model`)."""

from __future__ import annotations

from collections.abc import Collection

from engine.source.problem import Findings, Level
from engine.spec.document.node import Node


def repair(operation: Node, names: Collection[str], findings: Findings) -> None:
    """Make a property of a JSON body optional if a variable of the path has its name."""
    for media_type, media in operation.get("requestBody").get("content").items():
        schema = media.get("schema")
        value = schema.value
        if "json" not in media_type or not isinstance(value, dict):
            continue
        required, properties = value.get("required"), value.get("properties")
        if not isinstance(required, list) or not isinstance(properties, dict):
            continue
        for name in names:
            if name in required and name in properties:
                schema.value["required"] = [each for each in required if each != name]
                if not schema.value["required"]:
                    del schema.value["required"]
                required = schema.value.get("required", [])
                at = (*schema.path, "required")
                message = f"the body requires '{name}', which is in the path; the body may omit it"
                source = schema.library.source(schema.uri, at)
                findings.note(source, at, Level.WARNING, "MW229", message, key=True)
