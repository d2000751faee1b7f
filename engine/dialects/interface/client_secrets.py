"""How an API issues client secrets and what a session by one of them may do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from engine.values.trees import Json

NAME = "auth_tokens/"
"""What clients of Google's API have in front of a secret; they refuse others."""


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

    `read` reads the body of a request for one, at a time in Unix seconds, and raises GatewayError
    400; `write` makes the response. `opening` is the first message that the upstream gets in a
    session with these settings, b"" for none. `parameters` are what the query of such a session has
    to say: a value, or None for a parameter that it must not have. `owns` says whether settings are
    those of a secret of this API; with `needs_model` each is for one model.

    Where the client's first message has the settings, `first` is that message by the settings of a
    secret, `resumes` says whether it goes on with an earlier session, and `path` is where the
    upstream has such sessions for callers with a credential of its own. The settings then have
    until when sessions may `begin`, when they `end` (Unix seconds), and how many `uses` there are,
    0 for any number.
    """

    read: Callable[[Json, float], SecretRequest]
    write: Callable[[IssuedSecret], Json]
    opening: Callable[[Json], bytes]
    parameters: Callable[[Json], Mapping[str, str | None]]
    owns: Callable[[Json], bool]
    first: Callable[[Json, Json], Json] | None = None
    resumes: Callable[[Json], bool] = lambda message: False
    path: Callable[[str], str] = str
    needs_model: bool = True
