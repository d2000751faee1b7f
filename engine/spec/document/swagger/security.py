"""Security definitions of Swagger 2.0."""

from __future__ import annotations

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
