"""Applications of one endpoint, and requests to them without a server."""

import falcon.testing

from engine import dialects
from engine.edge.body_reader import check_head
from engine.edge.falcon_application import application
from engine.edge.falcon_responder import Responders, answer_errors
from engine.edge.lifecycle import RequestLifecycle
from engine.edge.path_operations import Resource
from engine.exchange.exchange import Response, compose

STAGES = [answer_errors, check_head]
OPENAI, ANTHROPIC, GEMINI = (dialects.get(name) for name in ("openai", "anthropic", "gemini"))


def client(handler, dialect=(OPENAI,), template="/v1/x/{model}", method="POST", max_body=1000):
    responders = Responders(max_body, 1.0)
    app = application(responders, STAGES)
    wide = ("model",) if "{model}" in template else ()
    app.add_route(
        template,
        Resource(
            method, "/v1", wide, lambda: responders.responder(compose(STAGES, handler), dialect)
        ),
    )
    return falcon.testing.TestClient(app)


def ok(exchange):
    return Response(200, [("content-type", "text/plain")], b"fine")


def raising(error):
    def handler(exchange):
        raise error

    return handler


def post(handler, dialect=(OPENAI,), **more):
    return client(handler, dialect).simulate_post("/v1/x/m", **more)


def raw(handler, target="/v1/x/m", method="POST", **environ):
    """Status, headers and body of the response to a request with an unchanged target."""
    path, _, query = target.partition("?")
    request = falcon.testing.create_environ(path, query, method=method)
    request.update(RAW_URI=target, **environ)
    responses = []
    body = handler(request, lambda status, headers, *_: responses.append((status, headers)))
    return responses[0][0][:3], responses[0][1], b"".join(body)


class Gateway:
    """An application of one endpoint; `exchanges` are those that have ended."""

    def __init__(self, handler, dialect=OPENAI, begin=None, outer=()):
        self.exchanges = []
        self.lifecycle = RequestLifecycle([self.exchanges.append], begin=begin)
        stages, responders = [self.lifecycle.observe, *outer, *STAGES], Responders(1000, 1.0)
        self.app = application(responders, stages)
        responder = responders.responder(compose(stages, handler), [dialect])
        resource = Resource("POST", "/v1", (), lambda: responder, operation="openai.chat")
        self.app.add_route("/v1/x", resource)

    def post(self):
        """The body of the answer, as the server asks for it."""
        environ = falcon.testing.create_environ("/v1/x", method="POST")
        return self.app(environ, lambda status, headers, *_: self.head(status, headers))

    def head(self, status, headers):
        self.status = int(status[:3])

    @property
    def results(self):
        return [(e.record.status, e.record.outcome, e.record.code) for e in self.exchanges]


def fail(*_):
    raise ZeroDivisionError
