"""Whether a gateway can serve an agent: it is asked itself, and no model is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import orjson
from msgspec import Struct

from engine.config.agents import Agent
from engine.source.excerpt import printable
from engine.source.suggestion import Suggestions, did_you_mean
from engine.upstream.client.address import origin_of
from engine.upstream.client.client import Client
from engine.upstream.client.deadlines import Timeouts
from engine.upstream.client.failures import UpstreamFailure
from engine.values.wildcard import matches

_TIMEOUT = 10.0
_MAX_LIST = 8_000_000
_MAX_NAMES = 8
_MAX_NAME = 256
_MAX_MESSAGE = 400
_SECRETS = re.compile(r"(?<=//).*@|[?#].*", re.DOTALL)
"""The parts of an address in which somebody may have put a password or a token."""


class CannotConnect(Exception):
    """The agent cannot use the gateway; `str` says why, and what to do."""


class _Answer(Struct, frozen=True):
    """An answer; `allow` is its header of that name, the methods of its path."""

    status: int
    allow: str
    body: bytes


def check_address(address: str) -> None:
    """Raise CannotConnect, without what may be secret, for an address at which no agent can reach a
    gateway."""
    try:
        if not address.startswith(("http://", "https://")):
            raise ValueError("the URL of a gateway begins with http:// or https://")
        origin_of(address)
    except ValueError as error:
        safe_address = printable(_SECRETS.sub("", address))
        reason = str(error).replace("an upstream", "a gateway")
        raise CannotConnect(f"{safe_address}: {reason}") from None


class GatewayChecks:
    """The gateway at an `address`, asked with a token. Raises CannotConnect for an address or a
    token that is none."""

    def __init__(self, address: str, token: str) -> None:
        self.address = address
        self._token = token
        check_address(address)
        if not (token.isascii() and token.isprintable()):
            raise CannotConnect("the token has a character that no token of a gateway has")
        self._client = Client(address, timeouts=Timeouts(*[_TIMEOUT] * 4), pool_size=1)

    def models(self) -> list[str]:
        """The names of the models that the token may use. Raises CannotConnect."""
        headers = [("authorization", f"Bearer {self._token}")]
        answer = self._ask("GET", "/v1/models", headers)
        if answer.status in (401, 403):
            raise CannotConnect(
                f"{self.address} does not know this token ({answer.status}): "
                f"{_message(answer.body)}"
            )
        if answer.status != 200:
            raise CannotConnect(
                f"{self.address}/v1/models answers {answer.status}: is this the address of a "
                "gateway, and does it route listModels?"
            )
        try:
            names = [entry["id"] for entry in orjson.loads(answer.body)["data"]]
        except (ValueError, KeyError, TypeError) as error:
            raise CannotConnect(f"{self.address}/v1/models is not a list of models") from error
        return [name for name in names if _is_name(name)]

    def check_path(self, agent: Agent) -> None:
        """Raise CannotConnect if no route serves the path to which the agent sends its requests."""
        path = quote(agent.path, safe="/:-._~")
        if "POST" not in self._ask("OPTIONS", path).allow:
            raise CannotConnect(
                f"{self.address} has no route for POST {agent.path}, which {agent.title} asks"
            )

    def _ask(self, method: str, path: str, headers: Sequence[tuple[str, str]] = ()) -> _Answer:
        try:
            path = self._client.base_path + path
            response = self._client.send(method, path, list(headers), None)
            body = b""
            try:
                while len(body) < _MAX_LIST and (data := response.read()):
                    body += data
            finally:
                response.close()
        except UpstreamFailure as failure:
            reason = printable(failure.message.replace("the upstream", "it"))
            raise CannotConnect(f"cannot reach {self.address}: {reason}") from failure
        allow = ",".join(value for name, value in response.headers if name.lower() == "allow")
        return _Answer(response.status, allow, body)


def choose_model(names: Sequence[str], model: str) -> str:
    """The model, or the first of the list without a name. Raises CannotConnect."""
    exact = [name for name in names if "*" not in name]
    if not model:
        if not exact:
            raise CannotConnect("name a model: --model NAME; the gateway lists none by its name")
        return exact[0]
    if model in names or any(matches(model, name) for name in names):
        return model
    some = ", ".join(exact[:_MAX_NAMES])
    closest = Suggestions(names).near(model, lambda name: True)  # there may be very many
    hint = did_you_mean(
        model, [closest] if closest else (), f"there are {some}" if some else "it lists no models"
    )
    raise CannotConnect(f"the gateway does not serve '{model}' to this token; {hint}")


def _is_name(name: object) -> bool:
    """Whether it can be the name of a model, and be printed."""
    return isinstance(name, str) and 0 < len(name) <= _MAX_NAME and name.isprintable()


def _message(body: bytes) -> str:
    """The message of an error of the gateway, or of whatever answers there."""
    try:
        value: Any = orjson.loads(body)
        return printable(str(value["error"]["message"])[:_MAX_MESSAGE])
    except (ValueError, KeyError, TypeError):
        return "it gives no reason"
