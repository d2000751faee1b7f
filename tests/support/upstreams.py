"""Upstreams without a network: a client that notes what it is sent and answers as it is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from engine.config.model import Credential
from engine.upstream.failures import UpstreamFailure
from engine.upstream.target import Target, Upstream

JSON = [("content-type", "application/json")]
EVENTS = [("content-type", "text/event-stream")]


class Answer:
    """An answer whose body comes in the given pieces; a failure among them is raised for ever."""

    def __init__(
        self,
        status: int = 200,
        headers: Sequence[tuple[str, str]] = JSON,
        body: Sequence[bytes | UpstreamFailure] = (b"{}",),
        length: int | None = None,
    ) -> None:
        self.status = status
        self.headers = list(headers)
        self.length = length
        self.pieces = list(body)
        self.closed = 0

    def header(self, name: str) -> str | None:
        return next((value for known, value in self.headers if known == name.lower()), None)

    def read(self) -> bytes:
        if not self.pieces:
            return b""
        if isinstance(self.pieces[0], UpstreamFailure):
            raise self.pieces[0]
        piece = self.pieces.pop(0)
        assert isinstance(piece, bytes)
        return piece

    def close(self) -> None:
        self.closed += 1


class Sent(NamedTuple):
    """One request as an upstream got it."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes | None

    def header(self, name: str) -> str | None:
        return next((value for known, value in self.headers if known == name), None)


class Client:
    """Answers what it is told, in order; a failure is raised."""

    def __init__(self, *answers: Answer | UpstreamFailure, base_path: str = "") -> None:
        self.answers = list(answers)
        self.base_path = base_path
        self.sent: list[Sent] = []

    def send(self, method: str, target: str, headers: Any, body: Any) -> Answer:
        whole = body if body is None or isinstance(body, bytes) else b"".join(body.chunks())
        self.sent.append(Sent(method, target, list(headers), whole))
        answer = self.answers.pop(0) if self.answers else Answer()
        if isinstance(answer, UpstreamFailure):
            raise answer
        return answer


def upstream(
    client: Any,
    name: str = "u",
    credential: Credential | None = None,
    forward_headers: tuple[str, ...] = (),
    dialect: str = "",
) -> Upstream:
    return Upstream(name, dialect, client, credential, forward_headers)


def target(client: Any, model: str = "", weight: float = 1, **more: Any) -> Target:
    return Target(upstream(client, **more), model, weight)


def failure(kind: type[UpstreamFailure], *, sent: bool = False, answered: bool = False) -> Any:
    made = kind()
    made.sent, made.answered = sent, answered
    return made
