"""A document with one operation, for tests of the second opinion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.spec.document.node import Node
from engine.spec.operation import Operation
from engine.spec.spec import Specification
from tests.support.documents import document, read

SCHEMA = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
JSON = "application/json"


class ReadOperation:
    """POST /a with a JSON body and answers of `schema`, and a query parameter `n` of `parameter`;
    `components` are schemas beside it."""

    def __init__(
        self,
        folder: Path,
        schema: Any = SCHEMA,
        *,
        parameter: Any = None,
        version: str = "3.1.0",
        **components: Any,
    ) -> None:
        content = {"content": {JSON: {"schema": schema}}}
        number = {"name": "n", "in": "query", "schema": parameter or {"type": "integer"}}
        operation = {
            "operationId": "post",
            "parameters": [number],
            "requestBody": content,
            "responses": {"200": {"description": "d", **content}},
        }
        text = document(
            version=version, paths={"/a": {"post": operation}}, components={"schemas": components}
        )
        specification, problems = read(folder, text)
        assert specification is not None, problems
        self.specification: Specification = specification
        self.operation: Operation = specification.operations["post"]

    @property
    def body_schema(self) -> Node:
        """The schema of the body."""
        node = self.specification.node(self.operation)
        return node.get("requestBody").get("content").get(JSON).get("schema")

    @property
    def parameter_schema(self) -> Node:
        """The schema of `n`."""
        node = self.specification.node(self.operation)
        return next(iter(node.get("parameters").elements())).get("schema")
