"""Configs of many models, routes, upstreams and tokens."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from engine.stores.database import tokens
from engine.stores.database.migrate import upgrade
from engine.stores.database.open_database import open_database
from engine.stores.database.tokens import Token
from engine.values.caller import digest

SPECS = 10
"""The documents of the large config, each with a tenth of its operations."""
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["model", "messages"],
    "properties": {
        "model": {"type": "string"},
        "messages": {"type": "array", "minItems": 1, "items": {"type": "object"}},
        "max_tokens": {"type": "integer", "minimum": 1},
    },
}

Schemas = Literal["shared", "equal", "different"]
"""Whether the operations of a document refer to one schema, or have each its own: equal ones or
different ones."""

OTHER = 7
"""How far the second target of a model is from its first."""
FEW = 10
"""The upstreams of most requests, in both configs: those of the small one."""


@dataclass(frozen=True)
class Size:
    """The numbers of a config."""

    models: int
    routes: int
    upstreams: int
    tokens: int

    def pair(self, dice: random.Random) -> tuple[int, int]:
        """Any model, and any route."""
        return dice.randrange(self.models), dice.randrange(self.routes)

    def near_pair(self, dice: random.Random) -> tuple[int, int]:
        """A model and a route whose targets are among the first FEW upstreams (see `write`). As of
        any pairs, a tenth have a route to an upstream of its own, whose requests cost less."""
        model, route = self.pair(dice)
        if route % 10 == 9:
            return model, route - route % self.upstreams + 9
        while max(model % self.upstreams, (model + OTHER) % self.upstreams) >= FEW:
            model = dice.randrange(self.models)
        return model, route


SMALL = Size(10, 10, 10, 20_000)
LARGE = Size(10_000, 10_000, 1_000, 1_000_000)


def secret(number: int) -> str:
    """The token of a caller."""
    return f"mw-{number:064d}"


def write(
    folder: Path,
    size: Size,
    upstream: int,
    port: int,
    telemetry: int,
    schemas: Schemas = "shared",
) -> Path:
    """The config and its documents. Upstreams are one server; routes name a model, but each tenth
    goes to an upstream of its own."""
    specs = []
    operations = max(1, size.routes // SPECS)
    routes = ["  - {operation: team0.list, answer: models}"]
    for first in range(0, size.routes, operations):
        name = f"team{first // operations}"
        specs.append(f"  {name}: {{document: {name}.json, dialect: openai}}")
        numbers = range(first, first + operations)
        (folder / f"{name}.json").write_text(json.dumps(document(numbers, schemas)))
        for number in numbers:
            goal = (
                f"to: [{{upstream: up{number % size.upstreams}}}]"
                if number % 10 == 9
                else 'model: "$request.body#/model"'
            )
            routes.append(f"  - {{operation: {name}.chat{number}, {goal}}}")
    upstreams = [
        f"  up{number}: {{url: 'http://127.0.0.1:{upstream}/v1', dialect: openai, proxy: '', "
        f"credential: {{bearer: '${{KEY}}'}}}}"
        for number in range(size.upstreams)
    ]
    models = [
        f"  model-{number}: {{to: [{{upstream: up{number % size.upstreams}}}, "
        f"{{upstream: up{(number + OTHER) % size.upstreams}, weight: 2}}]}}"
        for number in range(size.models)
    ]
    path = folder / "gateway.yaml"
    head = (
        "version: 1",
        f"server: {{listen: '127.0.0.1:{port}', workers: 1}}",
        f"telemetry: {{listen: '127.0.0.1:{telemetry}', access_log: {{format: 'off'}}}}",
        "stores: {records: 'sqlite:///records.db', journal: journal}",
    )
    path.write_text(
        "\n".join(
            [
                *(*head, "specs:", *specs, "upstreams:", *upstreams),
                *("models:", *models, "routes:", *routes, ""),
            ]
        )
    )
    return path


def document(numbers: Sequence[int], schemas: Schemas) -> dict[str, object]:
    """A document with an operation for each number."""
    paths: dict[str, object] = {
        f"/r{number}/chat/completions": {
            "post": {
                "operationId": f"chat{number}",
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": schema(number, schemas)}},
                },
                "responses": {"default": {"description": "An answer"}},
            }
        }
        for number in numbers
    }
    if 0 in numbers:
        paths["/models"] = {"get": {"operationId": "list", "responses": {}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Growth", "version": "1"},
        "servers": [{"url": "/v1"}],
        "paths": paths,
        "components": {"schemas": {"Chat": SCHEMA}},
    }


def schema(number: int, schemas: Schemas) -> dict[str, Any]:
    """The schema of an operation."""
    if schemas == "shared":
        return {"$ref": "#/components/schemas/Chat"}
    suffix = number if schemas == "different" else ""
    more = {
        f"member{n}{suffix}": {"type": kind, "description": f"The member {n} of an operation."}
        for n, kind in enumerate(("string", "integer", "number", "boolean") * 2)
    }
    return SCHEMA | {"properties": SCHEMA["properties"] | more}


def fill(folder: Path, size: Size) -> None:
    """The database with its tokens."""
    database = open_database(f"sqlite:///{folder}/records.db")
    upgrade(database)
    entries = (
        Token(f"token {number}", digest(secret(number)), 1.0, rate="1000000/1m")
        for number in range(size.tokens)
    )
    while batch := list(itertools.islice(entries, 20_000)):
        tokens.add(database, batch)
    database.close()
