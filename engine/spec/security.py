"""The places of a token in requests, from the document's `security` or from `specs.x.token`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from engine.source.problem import Findings, Level
from engine.source.suggestion import did_you_mean
from engine.spec.document.node import Node


class Carrier(NamedTuple):
    """A place for a token: `kind` is bearer, basic, header, query, cookie or subprotocol, `name`
    the name of the header, parameter or cookie. With basic, the token is the password of HTTP
    Basic, with any user name.

    With subprotocol, one of the subprotocols that a WebSocket handshake offers is the prefix `name`
    and the token: browsers can send it nowhere else.
    """

    kind: str
    name: str


BEARER = Carrier("bearer", "authorization")
BASIC = Carrier("basic", "authorization")
_SUBPROTOCOLS = "sec-websocket-protocol"


def read_carriers(entries: list[object]) -> tuple[Carrier, ...]:
    """Carriers from `specs.x.token`: `bearer`, `basic`, `{header: ...}`, `{query: ...}`,
    `{cookie: ...}`, `{subprotocol: ...}`."""
    carriers = []
    for entry in entries:
        if isinstance(entry, dict):
            carriers += [_make_carrier(kind, str(name)) for kind, name in entry.items()]
        else:
            carriers.append(BASIC if entry == "basic" else BEARER)
    return tuple(carriers)


def _make_carrier(kind: str, name: str) -> Carrier:
    """The carrier; the Authorization header always means a bearer token."""
    if kind == "header":
        return BEARER if name.lower() == "authorization" else Carrier(kind, name.lower())
    return Carrier(kind, name)


def is_carrier(carriers: Iterable[Carrier], location: str, name: str) -> bool:
    """Whether a parameter is one in which callers send their token."""
    folded = name.lower() if location == "header" else name
    return any(carrier.kind == location and carrier.name == folded for carrier in carriers)


def carriers(operation: Node, document: Node, findings: Findings) -> tuple[Carrier, ...]:
    """The carriers of an operation: all alternatives of its `security`, or of the document's.

    Without a supported one, a bearer token is required, so that nothing is public by accident.
    """
    requirements = operation.get("security")
    if requirements.value is None:
        requirements = document.get("security")
    if not requirements.value:
        return (BEARER,)
    schemes = document.get("components").get("securitySchemes")
    distinct: dict[Carrier, None] = {}
    for requirement in requirements.elements():
        for name in requirement.value if isinstance(requirement.value, dict) else ():
            scheme = _scheme(requirement, schemes, name)
            if scheme.value is None:
                names = list(schemes.value) if isinstance(schemes.value, dict) else []
                findings.note(
                    requirement.source,
                    (*requirement.path, name),
                    Level.WARNING,
                    "MW211",
                    f"unknown security scheme '{name}'; it is left out",
                    did_you_mean(name, names, f"define it under {_definitions(document)}"),
                    key=True,
                )
            elif (carrier := _carrier(scheme, findings)) is not None:
                distinct[carrier] = None
                if carrier == BASIC:  # a bearer token is accepted as well
                    distinct[BEARER] = None
    return tuple(distinct) or (BEARER,)


def _scheme(requirement: Node, schemes: Node, name: str) -> Node:
    """The scheme of a name, which may be the URI of one since OpenAPI 3.2."""
    scheme, library = schemes.get(name), requirement.library
    if scheme.value is None and library.is_32 and "#" in name:
        try:
            return library.target(requirement.uri, name).resolved()
        except KeyError:
            return scheme
    return scheme


def _definitions(document: Node) -> str:
    return "securityDefinitions" if document.library.is_20 else "components.securitySchemes"


def _is_subprotocol(scheme: Node) -> bool:
    return scheme.text("in") == "header" and scheme.text("name").lower() == _SUBPROTOCOLS


def _carrier(scheme: Node, findings: Findings) -> Carrier | None:
    kind = scheme.text("type")
    if kind in ("oauth2", "openIdConnect"):
        return BEARER
    if kind == "http" and scheme.text("scheme").lower() == "bearer":
        return BEARER
    if kind == "http" and scheme.text("scheme").lower() == "basic":
        return BASIC
    if kind == "apiKey" and scheme.text("in") in ("header", "query", "cookie"):
        if (prefix := scheme.text("x-subprotocol")) and _is_subprotocol(scheme):
            return Carrier("subprotocol", prefix)
        return _make_carrier(scheme.text("in"), scheme.text("name"))
    findings.note(
        scheme.source,
        scheme.path,
        Level.WARNING,
        "MW212",
        f"security scheme of type '{kind}' is not supported; a bearer token is required instead",
        "write the location of the token in requests at specs.<name>.token",
    )
    return None
