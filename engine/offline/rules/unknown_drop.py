"""A field under `drop` that no format has: often a typing mistake."""

from __future__ import annotations

from engine.offline.audit import AuditCase
from engine.offline.request_fields import request_fields
from engine.source.suggestion import did_you_mean
from engine.values.wildcard import matches


def check(case: AuditCase) -> None:
    models = [model for model in case.config.models.values() if model.drop]
    fields = request_fields(case.plan) if models else frozenset()
    for model in models:
        for index, name in enumerate(model.drop):
            if not any(matches(field, name) for field in fields):
                hint = did_you_mean(
                    name, fields, "fields are written without indexes: tools.strict"
                )
                message = f"'{name}' is no field of any format"
                case.warn((*model.at, "drop", index), "MW423", message, hint)
