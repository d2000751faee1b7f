"""Plays a request through the application that `serve` runs: its router and stages.

Only parts outside of the process are replaced: upstreams are not called, counters are zero, nothing
is written. Each request gets a new application, so that no state is shared.
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
from engine.config.default_prices import default_prices
from engine.edge.router import Application
from engine.exchange.environ_headers import environ_key
from engine.exchange.exchange import Exchange, Handler, Response, Stage
from engine.exchange.services import Services
from engine.offline.rehearsal.observation import Rehearsal, Request, Step, UpstreamAnswers
from engine.offline.rehearsal.path_routes import alternatives_of, narrow_plan
from engine.offline.rehearsal.stand_ins import Recorder, RecordingCounters, placeholder, recorder
from engine.offline.rehearsal.target_translations import translate_for_targets
from engine.plan.route import Plan, Route
from engine.spec.security import Carrier
from engine.stages.authenticate import carried
from engine.stages.report import mismatches
from engine.values.caller import Caller, digest, new_secret
from engine.values.errors import GatewayError, Malformed
from engine.values.price import Prices

Environ = dict[str, object]


def rehearse(
    plan: Plan,
    request: Request,
    caller: Caller | None = None,
    answers: UpstreamAnswers | None = None,
) -> Rehearsal:
    """Play a request; with a `caller`, as if it had the token of that caller. Raises ValueError for
    a request that is not valid HTTP.
    """
    rehearsal = Rehearsal(request)
    environ = environ_of(request)
    secret = new_secret() if caller is not None else ""
    tokens = plan.config.tokens
    services = Services(
        tokens={**tokens, digest(secret): caller} if caller is not None else tokens,
        counters=RecordingCounters(rehearsal.limits),
        dice=lambda: 0.0,
        allow_uncounted=plan.config.stores.on_store_failure == "allow",
        prices=Prices(plan.config.prices, default_prices(plan.config)),
        currency=plan.config.currency,
        proxies=plan.config.server.trusted_proxies,
    )
    narrow = narrow_plan(plan, request.target.partition("?")[0])
    app = build(
        narrow,
        services,
        client=_clients(plan, rehearsal, answers or UpstreamAnswers()),
        open_credential=placeholder,
        wrap_stages=lambda route, stages: _observe_all(narrow, route, stages, rehearsal, secret),
    )

    with capture_log(rehearsal.log), mismatches.capture(rehearsal.reported):
        rehearsal.status, rehearsal.headers, rehearsal.body = play(app, environ)
    return rehearsal


def play(app: Application, environ: Environ) -> tuple[int, list[tuple[str, str]], bytes]:
    """Status, headers and body of the response of an application."""
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


def _clients(plan: Plan, rehearsal: Rehearsal, answers: UpstreamAnswers) -> Callable[..., Recorder]:
    """A constructor of clients. The application calls it in the order of the plan's upstreams."""
    names = iter(plan.config.upstreams)
    make = recorder(rehearsal.sent_requests, answers)

    def client(url: str, **settings: object) -> Recorder:
        client: Recorder = make(url, **settings)
        client.name = next(names)
        return client

    return client


def _observe_all(
    plan: Plan, route: Route, stages: Sequence[Stage], rehearsal: Rehearsal, secret: str
) -> Sequence[Stage]:
    """The stages of a route, each observed, after a stage that adds the token. Of alternatives the
    stage that chooses comes first, as if it were of the first one."""

    def enter(exchange: Exchange, following: Handler) -> Response:
        is_outer = rehearsal.exchange is None
        rehearsal.route, rehearsal.exchange = route, exchange
        rehearsal.stages = [*rehearsal.stages, *map(stage_name, stages)]
        if secret and is_outer:
            carriers = [each.carriers[0] for each in alternatives_of(route, plan)]
            for carrier in dict.fromkeys(carriers):
                add_token(exchange, carrier, secret)
        rehearsal.carried = [carrier for carrier in route.carriers if carried(exchange, carrier)]
        try:
            return following(exchange)
        except GatewayError as error:
            rehearsal.error = error
            raise
        except Malformed as error:  # the endpoint answers 400 for it
            rehearsal.error = GatewayError(400, "invalid_value", str(error))
            raise
        finally:
            if is_outer and exchange.operation != route.operation.id:
                chosen = (r for r in plan.routes if r.operation.id == exchange.operation)
                rehearsal.route = next(chosen)
            elif rehearsal.reached_targets:
                rehearsal.translations = translate_for_targets(plan, route, exchange)

    return [enter, *(_observed(stage, rehearsal) for stage in stages)]


def stage_name(stage: Stage) -> str:
    """The name of a stage: that of its module."""
    return stage.__module__.rpartition(".")[2]


def _observed(stage: Stage, rehearsal: Rehearsal) -> Stage:
    def watched(exchange: Exchange, following: Handler) -> Response:
        step = Step(stage_name(stage))
        rehearsal.steps.append(step)

        def next_stage(inner: Exchange) -> Response:
            step.passed = True
            return following(inner)

        return stage(exchange, next_stage)

    return watched


def add_token(exchange: Exchange, carrier: Carrier, secret: str) -> None:
    """Add a token to the request, in the place of a carrier."""
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
    """The WSGI environ of a request."""
    path, _, query = request.target.partition("?")
    if not path.startswith("/"):
        raise ValueError(f"the path '{path}' does not begin with '/'")
    if not request.target.isascii() or not request.target.isprintable() or " " in request.target:
        raise ValueError("the path contains a character that must be percent-encoded")
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
    environ_headers: dict[str, str] = {}
    for name, value in request.headers:
        if not name or not value.isprintable() or "_" in name:
            raise ValueError(f"header '{name}' cannot be sent")
        key = environ_key(name)
        environ_headers[key] = (
            f"{environ_headers[key]},{value}" if key in environ_headers else value
        )
    if request.body:
        environ_headers.setdefault("CONTENT_LENGTH", str(len(request.body)))
    return {**environ, **environ_headers}


class _LineHandler(logging.Handler):
    def __init__(self, lines: list[str], level: int) -> None:
        super().__init__(level)
        self.lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        words = record.getMessage() if error is None else f"{type(error).__name__}: {error}"
        self.lines.append(" ".join(words.split()))


@contextmanager
def capture_log(lines: list[str], level: int = logging.NOTSET) -> Iterator[None]:
    """Append the gateway's log records of this level or higher to `lines`, instead of logging them:
    one line per record, which is the exception if there is one."""
    log, handler = logging.getLogger("modelway"), _LineHandler(lines, level)
    handlers, propagate = log.handlers, log.propagate
    log.handlers, log.propagate = [handler], False
    try:
        yield
    finally:
        log.handlers, log.propagate = handlers, propagate
