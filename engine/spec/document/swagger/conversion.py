"""Converts a document of Swagger 2.0 to OpenAPI 3.0, in place.

`definitions`, `parameters` and `responses` keep their paths, so that references from other files
hold; what an operation has is moved where OpenAPI 3 has it (`moves.py`). What is not of the form
that the standard asks for stays as it is: `unreadable_parts.py` reports it.
"""

from __future__ import annotations

from pathlib import Path as FilePath

from engine.source.problem import Findings, Path
from engine.spec.document.node import CONVERTED, Library, Node
from engine.spec.document.path_items import METHODS
from engine.spec.document.repairs import schemas
from engine.spec.document.swagger import bodies, parameters
from engine.spec.document.swagger.bodies import Declared, body_of, form_of
from engine.spec.document.swagger.moves import Moves
from engine.values.trees import Json

_METHODS = [method for method in METHODS if method not in ("trace", "query")]
_IN_BODY = ("body", "formData")
_OF_SWAGGER = frozenset({"discriminator", "type", "x-nullable"})
"""The keywords of schemas that have another meaning or place in OpenAPI 3.0."""


def convert(library: Library) -> None:
    """Convert the document and the parts of other files that it refers to."""
    _Conversion(library).convert()


class _Conversion:
    def __init__(self, library: Library) -> None:
        self._library = library
        self._document: Json = library.files[library.root].value
        self._moves = Moves(library)
        self._done: set[tuple[FilePath, Path]] = set()

    def convert(self) -> None:
        self._document["openapi"] = CONVERTED
        operations = [
            (operation, self._declared(item, is_shared=True), self._declared(operation), item)
            for item, operation in self._operations()
        ]
        # The lists of parameters come first: references may lead into those of other operations.
        items = {(item.uri, item.path): (item, shared) for _, shared, _, item in operations}
        for holder, declared in [*items.values(), *((o, own) for o, _, own, _ in operations)]:
            self._keep_parameters(holder, declared)
        for _, shared, own, _ in operations:
            for each in (*shared, *own):
                self._parameter(each.node)
        self._named_parts()
        for operation, shared, own, _ in operations:
            self._operation(operation, [*shared, *own])
        self._security()
        self._servers()
        self._moves.apply()
        self._schemas()

    def _named_parts(self) -> None:
        """Convert the parameters and responses of the document, whether used or not."""
        root, produces = self._library.document, _media_types(self._document, "produces")
        for name, node in root.get("parameters").items():
            if not name.startswith("x-"):
                self._parameter(node)
        for name, node in root.get("responses").items():
            if not name.startswith("x-"):
                self._response(node, produces)

    def _operations(self) -> list[tuple[Node, Node]]:
        """Each path item with each of its operations, once, in whatever file they are."""
        operations: dict[tuple[FilePath, Path], tuple[Node, Node]] = {}
        for key, item in self._library.document.get("paths").items():
            for method in _METHODS if not key.startswith("x-") else ():
                operation = item.get(method)
                if isinstance(operation.value, dict):
                    operations.setdefault((operation.uri, operation.path), (item, operation))
        return list(operations.values())

    def _declared(self, holder: Node, *, is_shared: bool = False) -> list[Declared]:
        """The parameters of a path item or an operation, as they are before the conversion."""
        listed = holder.literal("parameters")
        if not isinstance(listed.value, list):
            return []
        entries = [listed.step(index) for index in range(len(listed.value))]
        return [Declared(at, at.resolved(), is_shared) for at in entries]

    def _operation(self, operation: Node, declared: list[Declared]) -> None:
        value = operation.value
        consumes = _media_types(value, "consumes") or _media_types(self._document, "consumes")
        by_name = {(each.place, each.node.text("name")): each for each in declared}
        bodies = [each for each in by_name.values() if each.place == "body"]
        fields = [each for each in by_name.values() if each.place == "formData"]
        fields = [each for each in fields if each.node.text("name")]
        if "requestBody" not in value and bodies:
            value["requestBody"] = body_of(bodies[-1], operation, consumes, self._moves)
        elif "requestBody" not in value and fields:
            value["requestBody"] = form_of(fields, operation, consumes, self._moves)
        produces = _media_types(value, "produces") or _media_types(self._document, "produces")
        for status, response in operation.get("responses").items():
            if not status.startswith("x-"):
                self._response(response, produces)
        for key in ("consumes", "produces", "schemes"):
            value.pop(key, None)

    def _keep_parameters(self, holder: Node, declared: list[Declared]) -> None:
        """Remove the parameters of bodies from a list of parameters."""
        parameters = [each for each in declared if each.place not in _IN_BODY]
        for index, each in enumerate(parameters):
            at = (*holder.path, "parameters", index)
            if at != each.at.path:
                self._moves.move(holder.uri, each.at.path, at)
                self._moves.origin(holder.uri, at, each.at.path)
            if not each.is_reference:
                self._parameter(each.node, at)
        for each in declared:
            if not each.is_reference:
                self._done.add((each.node.uri, each.node.path))
        if declared:
            holder.value["parameters"] = [each.at.value for each in parameters]

    def _parameter(self, node: Node, at: Path | None = None) -> None:
        if self._is_new(node) and node.text("in") != "body":
            parameters.convert(node, self._moves, at)

    def _response(self, node: Node, produces: list[str]) -> None:
        if self._is_new(node):
            bodies.convert(node, produces, self._moves)

    def _is_new(self, node: Node) -> bool:
        """Whether a part is converted now: several operations may refer to it."""
        key = (node.uri, node.path)
        if key in self._done or not isinstance(node.value, dict):
            return False
        self._done.add(key)
        return True

    def _security(self) -> None:
        definitions = self._document.pop("securityDefinitions", None)
        if not isinstance(definitions, dict):
            return
        root, path = self._library.root, ("components", "securitySchemes")
        components = self._document.setdefault("components", {})
        if isinstance(components, dict):
            components["securitySchemes"] = {
                name: scheme_of(definition) for name, definition in definitions.items()
            }
        self._moves.move(root, ("securityDefinitions",), path)
        self._moves.origin(root, path, ("securityDefinitions",))

    def _servers(self) -> None:
        document, root = self._document, self._library.root
        host, base = document.get("host"), document.get("basePath")
        if not isinstance(host, str) and not isinstance(base, str):
            return
        schemes = document.get("schemes")
        scheme = next(iter(schemes), "https") if isinstance(schemes, list) else "https"
        path = f"/{base.strip('/')}" if isinstance(base, str) else ""
        address = f"{scheme}://{host}" if isinstance(host, str) else ""
        document["servers"] = [{"url": f"{address}{path}" or "/"}]
        key = "basePath" if isinstance(base, str) else "host"
        self._moves.origin(root, ("servers",), (key,))
        self._moves.origin(root, ("servers", 0, "url"), (key,))

    def _schemas(self) -> None:
        """Write the keywords of all schemas as OpenAPI 3.0 has them."""
        library = self._library
        for schema in schemas(library, Findings(), _OF_SWAGGER):
            value, path = schema.value, schema.node.path
            if isinstance(name := value.get("discriminator"), str):
                value["discriminator"] = {"propertyName": name}
            if value.get("type") == "file":
                value["type"], value["format"] = "string", "binary"
            if value.get("x-nullable") is True and "nullable" not in value:
                value["nullable"] = True
                at = library.origin(schema.node.uri, (*path, "x-nullable"))
                library.grafts.setdefault(schema.node.uri, {})[*path, "nullable"] = at


def _media_types(holder: Json, key: str) -> list[str]:
    """The media types of `consumes` or `produces`."""
    value = holder.get(key)
    names = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return [name for name in names if isinstance(name, str) and "/" in name]


_FLOWS = {
    "implicit": "implicit",
    "password": "password",
    "application": "clientCredentials",
    "accessCode": "authorizationCode",
}


def scheme_of(definition: object) -> object:
    """The security scheme of a definition; anything that is none is unchanged."""
    if not isinstance(definition, dict):
        return definition
    kind = definition.get("type")
    if kind == "basic":
        return {**definition, "type": "http", "scheme": "basic"}
    if kind != "oauth2":
        return definition
    flow = {
        key: definition[key]
        for key in ("authorizationUrl", "tokenUrl", "scopes")
        if key in definition
    }
    scheme = {key: value for key, value in definition.items() if key not in (*flow, "flow")}
    name = _FLOWS.get(str(definition.get("flow")))
    return {**scheme, "flows": {name: flow} if name else {}}
