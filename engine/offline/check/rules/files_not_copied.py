"""`objects.files: {copy: true}` in a config without routes that download or upload files."""

from __future__ import annotations

from engine.offline.check.audit import AuditCase


def check(case: AuditCase) -> None:
    if not case.config.objects.files.copy:
        return
    parts = {route.objects.copy for route in case.plan.routes if route.objects is not None}
    for part, verb in (("content", "downloads"), ("upload", "uploads")):
        if part not in parts:
            message = f"files are not copied: no route {verb} any"
            hint = "write include: [objects.yaml], which has these routes, or remove 'copy'"
            case.warn(("objects", "files", "copy"), "MW570", message, hint)
            return
