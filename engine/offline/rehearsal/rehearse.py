"""Playing a request through the application that `serve` runs: its router, its stages.

Only what would leave the process is another: upstreams are not asked, counters stand at zero,
nothing is written. Each request gets an application of its own, so that none can tell of another.
"""

from __future__ import annotations

import base64
import io
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import quote, unquote_to_bytes

from engine.app.build import build
from engine.edge.router import Application
from engine.exchange.exchange import Exchange, Handler, Response, Stage
from engine.exchange.services import Services
from engine.exchange.wsgi_environ import environ_key
from engine.offline.rehearsal.observation import (
    Answers,
    Request,
    Seen,
    Step,
)
from engine.offline.rehearsal.path_routes import narrowed
from engine.offline.rehearsal.stand_ins import Counters, Recorder, recorder
from engine.plan.route import Plan, Route
from engine.spec.security import Carrier
from engine.stages.authenticate import carried
from engine.stages.report import mismatches
from engine.values.caller import Caller, digest, new_secret
from engine.values.errors import GatewayError, Malformed
from engine.values.wildcard import ByName

Environ = dict[str, object]


def rehearse(
    plan: Plan, request: Request, caller: Caller | None = None, answers: Answers | None = None
) -> Seen:
    """Play a request; with a `caller`, as if it had shown that one's token.

    ValueError, in words, for a request that could not be sent.
    """
    seen = Seen(request)
    environ = environ_of(request)
    secret = new_secret() if caller is not None else ""
    named = plan.config.tokens
    services = Services(
        tokens={**named, digest(secret): caller} if caller is not None else named,
        counters=Counters(seen.limits),
        dice=lambda: 0.0,
        allow_uncounted=plan.config.stores.on_store_failure == "allow",
        prices=ByName(plan.config.prices),
        currency=plan.config.currency,
        proxies=plan.config.server.trusted_proxies,
    )
    app = build(
        narrowed(plan, request.target.partition("?")[0]),
        services,
        client=_clients(plan, seen, answers or Answers()),
        wrap_stages=lambda route, stages: _watched(route, stages, seen, secret),
    )

    with heard(seen.log), mismatches.captured(seen.reported):
        seen.status, seen.headers, seen.body = play(app, environ)
    return seen


def play(app: Application, environ: Environ) -> tuple[int, list[tuple[str, str]], bytes]:
    """Status, headers and body of what an application answers."""
    status, headers = 0, []

    def start_response(
        line: str, pairs: list[tuple[str, str]], error: object = None
    ) -> Callable[[bytes], object]:
        nonlocal status, headers
        status, headers = int(line.split(" ", 1)[0]), pairs
        return lambda data: None

    body = app(environ, start_response)
    try:
        data = b"".join(body)
    finally:
        getattr(body, "close", lambda: None)()
    return status, headers, data


def _clients(plan: Plan, seen: Seen, answers: Answers) -> Callable[..., Recorder]:
    """Clients in the order of the plan's upstreams, in which the application makes them."""
    names = iter(plan.config.upstreams)
    make = recorder(seen.sent, answers)

    def client(url: str, **settings: object) -> Recorder:
        made: Recorder = make(url, **settings)
        made.name = next(names)
        return made

    return client


def _watched(route: Route, stages: Sequence[Stage], seen: Seen, secret: str) -> Sequence[Stage]:
    """The stages of a route, each with an eye on it, behind one that puts the token on."""

    def enter(exchange: Exchange, following: Handler) -> Response:
        seen.route, seen.exchange = route, exchange
        if secret:
            put_on(exchange, route.carriers[0], secret)
        seen.carried = [carrier for carrier in route.carriers if carried(exchange, carrier)]
        try:
            return following(exchange)
        except GatewayError as error:
            seen.error = error
            raise
        except Malformed as error:  # as the endpoint takes it
            seen.error = GatewayError(400, "invalid_value", str(error))
            raise

    return [enter, *(_with_an_eye_on(stage, seen) for stage in stages)]


def _with_an_eye_on(stage: Stage, seen: Seen) -> Stage:
    def watched(exchange: Exchange, following: Handler) -> Response:
        step = Step(stage.__module__.rpartition(".")[2])
        seen.steps.append(step)

        def passing(given: Exchange) -> Response:
            step.passed = True
            return following(given)

        return stage(exchange, passing)

    return watched


def put_on(exchange: Exchange, carrier: Carrier, secret: str) -> None:
    """The token, where the operation looks for it first."""
    if carrier.kind == "query":
        pair = f"{quote(carrier.name, safe='')}={secret}"
        exchange.query = f"{exchange.query}&{pair}" if exchange.query else pair
        return
    key, value = environ_key(carrier.name), secret
    if carrier.kind == "bearer":
        value = f"Bearer {secret}"
    elif carrier.kind == "basic":
        value = f"Basic {base64.b64encode(f':{secret}'.encode()).decode()}"
    elif carrier.kind == "cookie":
        key, value = "HTTP_COOKIE", f"{carrier.name}={secret}"
    exchange.environ = {**exchange.environ, key: value}


def environ_of(request: Request) -> Environ:
    """What a WSGI server makes of a request."""
    path, _, query = request.target.partition("?")
    if not path.startswith("/"):
        raise ValueError(f"the path '{path}' does not begin with '/'")
    if not request.target.isascii() or not request.target.isprintable() or " " in request.target:
        raise ValueError("the path has a character that must be percent-encoded")
    environ: Environ = {
        "REQUEST_METHOD": request.method.upper(),
        "RAW_URI": request.target,
        "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
        "QUERY_STRING": query,
        "SCRIPT_NAME": "",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": request.address,
        "HTTP_HOST": "localhost",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(request.body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": False,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    told: dict[str, str] = {}
    for name, value in request.headers:
        if not name or not value.isprintable() or "_" in name:
            raise ValueError(f"header '{name}' could not be sent")
        key = environ_key(name)
        told[key] = f"{told[key]},{value}" if key in told else value
    if request.body:
        told.setdefault("CONTENT_LENGTH", str(len(request.body)))
    return {**environ, **told}


class _Ear(logging.Handler):
    def __init__(self, heard: list[str]) -> None:
        super().__init__()
        self.heard = heard

    def emit(self, record: logging.LogRecord) -> None:
        self.heard.append(self.format(record))


@contextmanager
def heard(lines: list[str]) -> Iterator[None]:
    """What the gateway logs goes to `lines`, and nowhere else."""
    log, ear = logging.getLogger("modelway"), _Ear(lines)
    before = log.propagate
    log.addHandler(ear)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(ear)
        log.propagate = before
