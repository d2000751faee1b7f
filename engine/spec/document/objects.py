"""The objects of OpenAPI: their keys, and the objects under each.

`unreadable_parts.py` makes the outline that a document must match from this table;
`misspelt_keys.py` takes the valid keys from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from engine.spec.document.path_items import ADDITIONAL, METHODS
from engine.spec.document.schema_keywords import SUBSCHEMA_LISTS, SUBSCHEMA_MAPPINGS, SUBSCHEMAS


class ObjectKind(NamedTuple):
    """An object of the standard: the keys with an effect, other valid keys, and the forms of the
    values that the engine relies on.

    A form is a kind of object, with `*` for a mapping of names and `[]` for a list; or "text",
    "name" (a text that is not empty), "flag", "location" (of a parameter), "mapping".
    """

    keys: frozenset[str]
    other_keys: frozenset[str]
    forms: Mapping[str, str]


def _kind(keys: str = "", other_keys: str = "", **forms: str) -> ObjectKind:
    return ObjectKind(frozenset(keys.split()), frozenset(other_keys.split()), forms)


BOUNDS = (
    "pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength "
    "maxLength minItems maxItems uniqueItems minProperties maxProperties minContains maxContains "
    "nullable readOnly writeOnly"
)
"""The keys of a schema that bound a value."""

_SCHEMA_LISTS = dict.fromkeys(SUBSCHEMA_LISTS, "schema[]")
# Those of `dependencies` may be lists of names.
_SCHEMA_MAPS = dict.fromkeys((m for m in SUBSCHEMA_MAPPINGS if m != "dependencies"), "schema*")
_SCHEMAS = dict.fromkeys(SUBSCHEMAS, "schema")
OBJECTS = {
    "document": _kind(
        "paths components servers security",
        "openapi info jsonSchemaDialect webhooks tags externalDocs $self swagger definitions host "
        "basePath schemes consumes produces",
        paths="path*",
        components="components",
        servers="server[]",
        security="mapping[]",
    ),
    "components": _kind(
        "schemas parameters requestBodies responses securitySchemes mediaTypes",
        "examples headers links callbacks pathItems",
        schemas="schema*",
        parameters="parameter*",
        requestBodies="body*",
        responses="response*",
        securitySchemes="securityScheme*",
        mediaTypes="media*",
    ),
    "path": _kind(
        f"{' '.join(METHODS)} {ADDITIONAL} parameters servers $ref",
        "summary description",
        parameters="parameter[]",
        servers="server[]",
        **dict.fromkeys(METHODS, "operation"),
        **{ADDITIONAL: "operation*"},
    ),
    "operation": _kind(
        "operationId parameters requestBody responses security servers",
        "tags summary description externalDocs callbacks deprecated",
        parameters="parameter[]",
        requestBody="body",
        responses="response*",
        servers="server[]",
        security="mapping[]",
        operationId="name",
    ),
    "parameter": _kind(
        "name required schema content style explode allowReserved $ref",
        "in description deprecated allowEmptyValue example examples type format summary",
        schema="schema",
        content="media*",
        name="name",
        style="text",
        explode="flag",
        **{"in": "location"},
    ),
    "body": _kind("content required $ref", "description summary", content="media*"),
    "media": _kind(
        "schema itemSchema encoding itemEncoding prefixEncoding $ref",
        "example examples description summary",
        schema="schema",
        itemSchema="schema",
        encoding="encoding*",
        itemEncoding="encoding",
        prefixEncoding="encoding[]",
        examples="example*",
    ),
    "example": _kind(),
    "encoding": _kind(
        "contentType style explode allowReserved",
        "headers encoding itemEncoding prefixEncoding",
        contentType="text",
        style="text",
        explode="flag",
    ),
    "response": _kind("content $ref", "description headers links summary", content="media*"),
    "securityScheme": _kind(
        "type name scheme $ref",
        "in description bearerFormat flows openIdConnectUrl oauth2MetadataUrl deprecated",
        type="text",
        name="text",
    ),
    "server": _kind("url variables", "description name", url="text", variables="variable*"),
    "variable": _kind(),
    "schema": _kind(
        f"{BOUNDS} type properties required items enum const allOf anyOf oneOf $ref "
        "additionalProperties patternProperties propertyNames unevaluatedProperties discriminator "
        "dependentRequired dependentSchemas prefixItems contains",
        "title description default example examples deprecated externalDocs xml not if then else "
        "$id id $schema $anchor $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor $defs "
        "definitions $vocabulary $comment contentEncoding contentMediaType contentSchema "
        "unevaluatedItems additionalItems dependencies optional name summary value options media",
        **_SCHEMAS,
        **_SCHEMA_LISTS,
        **_SCHEMA_MAPS,
    ),
}

_OF_VALUES = (
    "type format items default maximum exclusiveMaximum minimum exclusiveMinimum maxLength "
    "minLength pattern maxItems minItems uniqueItems enum multipleOf collectionFormat"
)
"""The keys of a parameter, header or item of Swagger 2.0 that describe its value."""

SWAGGER_OBJECTS = {
    "document": _kind(
        "paths host basePath schemes consumes produces definitions parameters responses security "
        "securityDefinitions",
        "swagger info tags externalDocs",
        paths="path*",
        definitions="schema*",
        parameters="parameter*",
        responses="response*",
        securityDefinitions="securityScheme*",
    ),
    "path": _kind(
        "get put post delete options head patch parameters $ref",
        "summary description",
        parameters="parameter[]",
        **dict.fromkeys(("get", "put", "post", "delete", "options", "head", "patch"), "operation"),
    ),
    "operation": _kind(
        "operationId parameters responses security consumes produces",
        "tags summary description externalDocs schemes deprecated",
        parameters="parameter[]",
        responses="response*",
    ),
    "parameter": _kind(
        f"{_OF_VALUES} name required schema $ref",
        "in description allowEmptyValue example examples deprecated title",
        schema="schema",
    ),
    "response": _kind("schema $ref", "description headers examples", schema="schema"),
    "securityScheme": _kind(
        "type name", "in description flow authorizationUrl tokenUrl scopes scheme"
    ),
    "schema": OBJECTS["schema"],
}
"""The objects of Swagger 2.0, before a document is converted."""
