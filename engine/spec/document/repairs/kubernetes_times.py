"""Times of Kubernetes, for which its own clients send null: `"creationTimestamp": null`."""

from __future__ import annotations

from engine.spec.document.repairs import Schema, SchemaRepair

_NAMES = (".pkg.apis.meta.v1.Time", ".pkg.apis.meta.v1.MicroTime")


def _repair(schema: Schema) -> None:
    """Allow null: its server reads it as a time that is not set."""
    value, path = schema.value, schema.node.path
    is_time = bool(path) and str(path[-1]).endswith(_NAMES) and value.get("type") == "string"
    if is_time and "nullable" not in value:
        if schema.is_30:
            value["nullable"] = True
        else:
            value["type"] = ["string", "null"]
        message = "clients of Kubernetes send null for a time that is not set; null is allowed here"
        hint = "write nullable: true" if schema.is_30 else 'write type: [string, "null"]'
        schema.warn("format", "MW240", message, hint)


REPAIR = SchemaRepair(frozenset({"format"}), _repair)
