"""How an API issues client secrets and what a session by one of them may do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from engine.values.trees import Json


class SecretRequest(NamedTuple):
    """A request for a client secret: for which `model` ("" if it names none), how many `seconds` it
    shall be valid, and the settings of the `session`."""

    model: str
    seconds: int
    session: Json


class IssuedSecret(NamedTuple):
    """A client secret: its `value`, when it `expires` (Unix seconds), its `model` and `session`,
    and the id of the request."""

    value: str
    expires: int
    model: str
    session: Json
    request_id: str


class ClientSecretFormat(NamedTuple):
    """The client secrets of a dialect. Every function is pure.

    `read` reads the body of a request for one and raises GatewayError 400; `write` makes the
    response. `opening` is the first message that the upstream gets in a session with these
    settings, b"" for none. `parameters` are what the query of such a session has to say: a value,
    or None for a parameter that it must not have.
    """

    read: Callable[[Json], SecretRequest]
    write: Callable[[IssuedSecret], Json]
    opening: Callable[[Json], bytes]
    parameters: Callable[[Json], Mapping[str, str | None]]
