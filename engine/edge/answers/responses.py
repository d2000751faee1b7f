"""`answer: responses`: the Responses API over a WebSocket.

Each `response.create` is a request of the POST of the same path, through its whole stack; see
`engine.sockets`.
"""

from __future__ import annotations

from engine.edge.answers.own_answer import AnswerSources, OwnAnswer
from engine.exchange.exchange import Handler


def handler(sources: AnswerSources) -> Handler:
    """The handler of the socket, which the application makes: it calls another route."""
    assert sources.socket is not None  # the plan refuses the answer for any other operation
    return sources.socket


ANSWER = OwnAnswer(
    name="responses",
    summary="over a WebSocket, each message of which is a request of the POST of the same path",
    handler=handler,
    is_websocket=True,
)
