"""Operations of Swagger 2.0 with the parameters and bodies of OpenAPI 3, for the judge. Schemas
stay where they are, and are judged as those of OpenAPI 3.0."""

from __future__ import annotations

from typing import Any

_JSON, _URLENCODED = "application/json", "application/x-www-form-urlencoded"
_STYLES = {"ssv": "spaceDelimited", "pipes": "pipeDelimited", "tsv": "tabs"}
_OF_PARAMETERS = frozenset({"name", "in", "required", "description", "collectionFormat"})


def with_bodies_of_3(document: dict[str, Any]) -> dict[str, Any]:
    """The document, changed in place."""
    shared = document.get("parameters", {})
    for item in document["paths"].values():
        for holder in [item, *item.values()]:
            if isinstance(holder, dict) and isinstance(holder.get("parameters"), list):
                holder["parameters"] = [_target(each, shared) for each in holder["parameters"]]
    for item in document["paths"].values():
        operations = [each for each in item.values() if isinstance(each, dict)]
        for operation in operations:
            parameters = {
                (each["in"], each["name"]): each
                for each in [*item.get("parameters", []), *operation.get("parameters", [])]
            }
            consumes = operation.get("consumes", document.get("consumes", []))
            _add_body(operation, list(parameters.values()), consumes)
        for holder in [item, *operations]:
            if "parameters" in holder:
                holder["parameters"] = [
                    _parameter(each)
                    for each in holder["parameters"]
                    if each["in"] not in ("body", "formData")
                ]
    _convert_schemas(document)
    return document


def _target(parameter: dict[str, Any], shared: dict[str, Any]) -> dict[str, Any]:
    name = parameter.get("$ref", "").removeprefix("#/parameters/")
    return shared[name] if name else parameter


def _add_body(
    operation: dict[str, Any], parameters: list[dict[str, Any]], consumes: list[str]
) -> None:
    fields = {each["name"]: each for each in parameters if each["in"] == "formData"}
    for body in [each for each in parameters if each["in"] == "body"]:
        content = {name: {"schema": body["schema"]} for name in consumes or [_JSON]}
        operation["requestBody"] = {"required": body.get("required") is True, "content": content}
    if not fields:
        return
    required = [name for name, field in fields.items() if field.get("required") is True]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: _schema(field) for name, field in fields.items()},
    }
    if required:
        schema["required"] = required
    has_file = any(field.get("type") == "file" for field in fields.values())
    media_types = [name for name in consumes if not has_file or name != _URLENCODED]
    encoding = {
        name: {"explode": field.get("collectionFormat") == "multi"}
        for name, field in fields.items()
        if field.get("type") == "array"
    }
    content = {
        name: {"schema": schema, "encoding": encoding}
        for name in media_types or ([] if has_file else [_URLENCODED])
    }
    operation["requestBody"] = {"required": bool(required), "content": content}


def _parameter(parameter: dict[str, Any]) -> dict[str, Any]:
    """A list is separated by commas, unless it is repeated."""
    kept = {key: parameter[key] for key in ("name", "in", "required") if key in parameter}
    kind = parameter.get("collectionFormat", "csv")
    style = {"style": _STYLES[kind]} if kind in _STYLES else {}
    return {**kept, **style, "explode": kind == "multi", "schema": _schema(parameter)}


def _schema(parameter: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in parameter.items() if key not in _OF_PARAMETERS}


def _convert_schemas(value: Any) -> None:
    """`discriminator` is a text in Swagger 2.0, and null has an extension."""
    if isinstance(value, dict):
        if isinstance(value.get("discriminator"), str):
            value["discriminator"] = {"propertyName": value["discriminator"]}
        if value.get("x-nullable") is True:
            value["nullable"] = True
    for child in value.values() if isinstance(value, dict) else value:
        if isinstance(child, dict | list):
            _convert_schemas(child)
