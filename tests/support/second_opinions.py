"""Configs whose examples and requests are compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from engine.offline.rehearsal.observation import request
from engine.offline.rehearsal.rehearse import rehearse
from engine.offline.second_opinion.compare import compare_request
from engine.plan.assembly.make_plan import make_plan
from engine.plan.plan import PlanResult

GATEWAY = """version: 1
specs: {shop: {document: shop.yaml, mount: /v1}}
upstreams: {main: {url: "http://127.0.0.1:9"}}
routes: [{operations: shop.*, to: [{upstream: main}], auth: none}]
"""
NAME = {"schemas": {"Name": {"type": "string"}}}


def plan(
    folder: Path, operation: Any, *, version: str = "3.0.3", routes: str = "", **components: Any
) -> PlanResult:
    """The plan of one document: PUT /items/{id} as described, and GET /other."""
    described = {
        "parameters": [
            {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
        ],
        "responses": {"200": {"description": "ok"}},
        **operation,
        "operationId": "put",
    }
    other = {"operationId": "other", "responses": {"200": {"description": "ok"}}}
    paths = {"/items/{id}": {"put": described}, "/other": {"get": other}}
    document = {"openapi": version, "info": {"title": "T", "version": "1"}, "paths": paths}
    components = {"schemas": {**NAME["schemas"], **components}}
    (folder / "shop.yaml").write_text(yaml.safe_dump({**document, "components": components}))
    (folder / "gateway.yaml").write_text(routes or GATEWAY)
    planned = make_plan(folder / "gateway.yaml", {})
    assert planned.plan is not None, planned.findings.errors
    return planned


def played(planned: PlanResult, target: str, data: Any = None, **headers: str) -> list[str]:
    text = b"" if data is None else data if isinstance(data, bytes) else json.dumps(data).encode()
    rehearsal = rehearse(planned.plan, request("PUT", target, list(headers.items()), text))
    return compare_request(planned.plan, rehearsal)
