"""Isolation, by the facts of the shipped documents: every operation, every place of an id, every
kind. The owner's id arrives at the vendor as the vendor's; another owner's, a forged one, one of a
removed upstream and one of another kind are one 404, and the vendor is not asked. What the vendor
answers has no id that is not sealed for the caller."""

from __future__ import annotations

import re
from functools import partial
from typing import Any
from urllib.parse import quote, unquote

import orjson
import pytest

from engine.app.build import build
from engine.app.routes.internal_call import send
from engine.app.services.worker_services import services_of
from engine.exchange.caller_connection import InternalCaller
from engine.exchange.internal_request import Request
from engine.exchange.opened_ids import Holder
from engine.objects.facts import ObjectFacts
from engine.objects.id_opener import IdOpener
from engine.objects.id_places import ANY, ANY_DEPTH, IdPlace
from engine.objects.response_ids import ResponseSealer, SealedPlaces
from engine.objects.sealed_ids import Identity, Sealer, owner_of
from engine.objects.session_ids import SessionIds
from engine.offline.rehearsal.stand_ins import CannedResponse, Recorder, StandInAnswer
from engine.plan.assembly.make_plan import make_plan
from engine.plan.route import Route
from engine.spec.document import path_templates
from engine.values.caller import Caller
from engine.values.errors import GatewayError
from tests.support.paths import ROOT
from tests.support.recording import ANSWER

KEY = "0123456789abcdef" * 2
ANN = Caller("ann", team="red")
OTHERS = {
    "token": (Caller("bob", team="blue"), Caller("cat", team="red"), None),
    "team": (Caller("bob", team="blue"), Caller("red"), None),
}
DIALECTS = ("openai", "anthropic", "gemini")
NAMES = sorted(
    path.stem
    for path in (ROOT / "openapi").glob("*.yaml")
    if path.stem.partition("-")[0] in DIALECTS
)
UPSTREAMS = {name: Holder(name, 1) for name in DIALECTS}
SEALER = Sealer([KEY], [*DIALECTS, "gone"])
"""That of a gateway which had one more upstream."""
HEADERS = {
    "anthropic": [("anthropic-version", "2023-06-01")],
    "gemini": [("x-goog-upload-command", "upload"), ("x-goog-upload-offset", "1")],
}
MODEL = "m"


def config(owner: str) -> str:
    lines = ["version: 1", f"objects: {{key: {KEY}, owner: {owner}}}", "specs:"]
    lines += [
        f"  {name}: {{document: {name}.yaml, dialect: {name.partition('-')[0]}, mount: /{name}}}"
        for name in NAMES
    ]
    lines += ["upstreams:"]
    lines += [
        f'  {name}: {{url: "http://127.0.0.1:9/{name}", dialect: {name}, '
        "credentials: [{bearer: one}, {bearer: two}]}"
        for name in DIALECTS
    ]
    to = ", ".join(f"{{upstream: {name}}}" for name in DIALECTS)
    lines += ["models:", f"  {MODEL}: {{to: [{to}]}}", "routes:"]
    for name in NAMES:
        dialect = name.partition("-")[0]
        lines += [f"  - {{operations: [{name}.*], validate: off, to: [{{upstream: {dialect}}}]}}"]
    digest = "a" * 64
    lines += [f"tokens: [{{name: ann, sha256: {digest}}}]"]
    return "\n".join(lines)


class Vendor(Recorder):
    """A client that records requests, and answers all of them with `answer`."""

    def __init__(self, url: str, *, requests: list[Any], answer: list[Any], **settings: Any):
        super().__init__(url, requests=requests, answers=None, **settings)  # type: ignore[arg-type]
        self._answer = answer

    def send(self, method: str, target: str, headers: Any, body: Any, total: Any = None) -> Any:
        data = body if isinstance(body, bytes) else b"".join(body.chunks()) if body else b""
        text = f"{unquote(target)} {headers} ".encode() + data
        self._requests.append(text)  # type: ignore[arg-type]
        return CannedResponse(200, StandInAnswer(*self._answer))


class House:
    """A gateway in this process with all shipped documents, and what its vendors got."""

    def __init__(self, folder: Any, owner: str) -> None:
        for name in NAMES:
            (folder / f"{name}.yaml").write_bytes((ROOT / "openapi" / f"{name}.yaml").read_bytes())
        (folder / "gateway.yaml").write_text(config(owner))
        result = make_plan(folder / "gateway.yaml", {})
        assert result.plan is not None, [p for p in result.problems if p.level == "error"]
        self.requests: list[bytes] = []
        self.answer: list[Any] = ["application/json", ANSWER]
        self.owner = owner
        self.plan = result.plan
        client = partial(Vendor, requests=self.requests, answer=self.answer)
        self.app = build(self.plan, services_of(self.plan), client=client)
        self.routes = [r for r in self.plan.routes if r.objects is not None and not is_socket(r)]

    def ask(
        self, route: Route, caller: Caller | None, ids: dict[IdPlace, str], *, stream: bool = False
    ) -> tuple[int, bytes]:
        """The status and the body of a request of an operation with these ids at their places."""
        request = written(route, ids, stream=stream)
        internal = InternalCaller(caller or Caller(""))
        response = send(self.app, request, internal)
        return response.status, response.read()

    def sealed(self, route: Route, place: IdPlace, vendor_id: str, **changes: Any) -> str:
        """An id of ann's for a place, as it stands in a request."""
        holder = UPSTREAMS[route.operation.spec.partition("-")[0]]
        identity = Identity(vendor_id, holder, owner_of(ANN, self.owner))
        kind = changes.pop("kind", place.kind)
        return text_at(place, SEALER.seal(identity._replace(**changes), kind))


def is_socket(route: Route) -> bool:
    return route.websocket is not None


def vendor_id_at(place: IdPlace) -> str:
    """An id that a vendor may have at a place."""
    start = re.sub(r"\{[^}]*\}", "v", place.prefix)
    if not start and place.starts:
        start = place.starts
    return f"{start or 'obj_'}raw{len(place.kind)}vendor"


def text_at(place: IdPlace, sealed: str) -> str:
    """A sealed id, or any other, as it stands at a place."""
    text = sealed.removeprefix(re.sub(r"\{[^}]*\}", "v", place.prefix))
    if not place.after:
        return text
    host = min(place.hosts, default="vendor.example").replace("*", "eu-")
    return f"https://{host}/x/{place.after}{text}"


def written(route: Route, ids: dict[IdPlace, str], *, stream: bool = False) -> Request:
    """A request of a route's operation, which may ask for a stream."""
    operation = route.operation
    named = {(place.location, place.steps[0]): text for place, text in ids.items()}
    path = operation.path
    for name in path_templates.variables(operation.path):
        text = named.get(("path", name), MODEL if name == "model" else "v")
        path = path.replace(f"{{{name}}}", quote(text, safe=""))
    query = [f"{p.steps[0]}={quote(t, safe='')}" for p, t in ids.items() if p.location == "query"]
    query += [f"{name}={value}" for name, value in operation.query]
    headers = [(p.steps[0].lower(), t) for p, t in ids.items() if p.location == "header"]
    dialect = operation.spec.partition("-")[0]
    headers += [pair for pair in HEADERS.get(dialect, ()) if pair[0] not in dict(headers)]
    if operation.id.partition(".")[2].startswith("start"):
        headers = [(n, "start" if n == "x-goog-upload-command" else v) for n, v in headers]
    body = b""
    if operation.method in ("POST", "PUT", "PATCH"):
        value: Any = {"model": MODEL, **({"stream": True} if stream else {})}
        for place, text in ids.items():
            if place.location == "body":
                value = merged(value, value_at(place.steps, text))
        body = orjson.dumps(value)
        headers.append(("content-type", "application/json"))
    base = operation.templates[0][0].removesuffix(operation.path)
    target = base + path + (f"?{'&'.join(query)}" if query else "")
    return Request(operation.method, target, headers, body)


def value_at(steps: tuple[str, ...], text: Any) -> Any:
    """The JSON in which a text stands at a place."""
    for step in reversed(steps):
        if step == ANY_DEPTH:
            text = {"deep": [text]}
        elif step == ANY or step.isdecimal():
            text = [text]
        else:
            text = {step: text}
    return text


def merged(one: Any, other: Any) -> Any:
    if isinstance(one, dict) and isinstance(other, dict):
        return {**one, **{k: merged(one[k], v) if k in one else v for k, v in other.items()}}
    return other


def own_path(house: House, route: Route, place: IdPlace) -> dict[IdPlace, str]:
    """The ids of ann's in the path and query that a request needs beside that of a place."""
    facts = route.objects
    assert facts is not None
    return {
        each: house.sealed(route, each, vendor_id_at(each))
        for each in facts.names
        if each.location == "path" and each.steps != place.steps
    }


@pytest.fixture(scope="module", params=["token", "team"])
def house(request: Any, tmp_path_factory: pytest.TempPathFactory) -> House:
    return House(tmp_path_factory.mktemp("isolation"), request.param)


def cases(house: House) -> list[tuple[Route, IdPlace]]:
    found = []
    for route in house.routes:
        facts: ObjectFacts = route.objects  # type: ignore[assignment]
        found += [(route, place) for place in facts.names if place.location != "message"]
    return found


def test_an_id_at_any_place_is_its_owner_s_alone(house: House) -> None:
    places, kinds, operations, faults = 0, set(), set(), []
    for route, place in cases(house):
        facts: ObjectFacts = route.objects  # type: ignore[assignment]
        if facts.lists is not None and place.location == "query":
            continue
        places += 1
        kinds.add(place.kind)
        operations.add(route.operation.id)
        vendor_id = vendor_id_at(place)
        own, around = house.sealed(route, place, vendor_id), own_path(house, route, place)
        name = f"{route.operation.id} {place.kind} {place.text}"
        house.requests.clear()
        status, body = house.ask(route, ANN, {**around, place: own})
        raw = vendor_id.removeprefix(re.sub(r"\{[^}]*\}", "v", place.prefix))
        is_judged = "requests" in facts.batch  # a batch needs more than an id
        if not is_judged and not (house.requests and raw.encode() in house.requests[-1]):
            faults.append(f"{name}: own: {status} {body[:200]!r} {house.requests[-1:]}")
            continue
        house.requests.clear()
        wrong = {
            "another's": house.sealed(route, place, vendor_id, owner=b"x" * 8),
            "removed": house.sealed(route, place, vendor_id, holder=Holder("gone")),
            "kind": house.sealed(route, place, vendor_id, kind="none_such"),
        }
        if not (place.starts and not vendor_id.startswith(place.starts)):
            wrong["raw"] = text_at(place, vendor_id)
        for why, text in wrong.items():
            status, body = house.ask(route, ANN, {**around, place: text})
            if status != 404 or house.requests:
                faults.append(f"{name}: {why}: {status} {body[:200]!r} {house.requests}")
                house.requests.clear()
        if all(each.bearer for each in facts.names if each.location != "body"):
            continue  # the address of an upload is its owner's, whoever sends it
        callers = OTHERS[house.owner]
        for caller in callers:
            if caller is not None and owner_of(caller, house.owner) == owner_of(ANN, house.owner):
                continue
            status, body = house.ask(route, caller, {**around, place: own})
            if status not in (404, 401) or house.requests:
                faults.append(f"{name}: {caller}: {status} {body[:200]!r} {house.requests}")
                house.requests.clear()
    assert faults == []
    assert (places, len(kinds), len(operations)) >= (520, 70, 320)


def test_an_answer_has_ids_of_its_caller_alone(house: House) -> None:
    places, faults = 0, []
    for route in house.routes:
        facts: ObjectFacts = route.objects  # type: ignore[assignment]
        if facts.lists is not None:
            continue
        around = {
            each: house.sealed(route, each, vendor_id_at(each))
            for each in facts.names
            if each.location in ("path", "query") or each.bearer
        }
        if "requests" in facts.batch:
            continue  # which depends on more of the request
        for place in facts.otherwise.creates:
            if place.location not in ("body", "event", "lines"):
                continue
            places += 1
            vendor_id = vendor_id_at(place)
            document = value_at(place.steps, text_at(place, vendor_id))
            value = orjson.dumps(document)
            whole = {**orjson.loads(ANSWER), **document} if isinstance(document, dict) else document
            kind, text = {
                "body": ("application/json", orjson.dumps(whole)),
                "event": ("text/event-stream", b"data: %b\n\n" % value),
                "lines": ("application/x-ndjson", value + b"\n"),
            }[place.location]
            house.answer[:] = kind, text
            status, body = house.ask(route, ANN, around, stream=place.location == "event")
            raw = vendor_id.removeprefix(re.sub(r"\{[^}]*\}", "v", place.prefix)).encode()
            if status >= 300 or raw in body or (b"mw" not in body and not place.address):
                faults.append(f"{route.operation.id} {place.kind} {place.text}: {status} {body!r}")
    house.answer[:] = ["application/json", ANSWER]
    assert faults == []
    assert places >= 600


def test_ids_of_a_stream_that_is_put_together_are_sealed(house: House) -> None:
    """A server may stream whatever was asked for: its last event has the answer in one piece."""
    (route,) = (r for r in house.routes if r.operation.id == "openai.createResponse")
    text = {"type": "output_text", "text": "hi", "annotations": []}
    item = {"type": "message", "id": "msg_1", "role": "assistant", "content": [text]}
    whole = {"id": "resp_raw1", "object": "response", "status": "completed", "output": [item]}
    events = [
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    lines = [b"data: %b\n\n" % orjson.dumps(event) for event in events]
    house.answer[:] = "text/event-stream", b"".join(lines)
    status, body = house.ask(route, ANN, {})
    house.answer[:] = ["application/json", ANSWER]
    assert (status, orjson.loads(body)["output"][0]["content"]) == (200, [text]), body
    assert b"raw1" not in body
    assert orjson.loads(body)["id"].startswith("resp_mw")


SOURCE = {"fileSearchStore": "fileSearchStores/raw-1", "mediaId": "fileSearchStores/raw-1/media/2"}
GROUNDED = {
    "candidates": [
        {
            "content": {"role": "model", "parts": [{"text": "hi"}]},
            "finishReason": "STOP",
            "groundingMetadata": {"groundingChunks": [{"retrievedContext": SOURCE}]},
        }
    ]
}


@pytest.mark.parametrize(
    ("operation", "kind", "text"),
    [
        ("generateContent", "application/json", b"%b"),
        ("streamGenerateContent", "text/event-stream", b"data: %b\n\n"),
        ("streamGenerateContent", "application/json", b"[%b]"),
    ],
)
def test_the_sources_of_a_model_are_stores_of_the_caller(
    house: House, operation: str, kind: str, text: bytes
) -> None:
    (route,) = (r for r in house.routes if r.operation.id == f"gemini.{operation}")
    facts: ObjectFacts = route.objects  # type: ignore[assignment]
    place = next(p for p in facts.names if p.kind == "file_search_store" and p.steps[-1] == ANY)
    store = house.sealed(route, place, "fileSearchStores/raw-1")
    house.answer[:] = kind, text % orjson.dumps(GROUNDED)
    status, body = house.ask(route, ANN, {place: store})
    sealed = orjson.dumps(GROUNDED).replace(b"fileSearchStores/raw-1", store.encode())
    assert (status, sealed in body) == (200, True), body
    house.answer[:] = ["application/json", ANSWER]


def test_an_id_in_a_message_of_a_session_is_its_owner_s_alone(house: House) -> None:
    places = 0
    for route in house.plan.routes:
        facts = route.objects
        if facts is None or not is_socket(route):
            continue
        ann, bob = owner_of(ANN, house.owner), owner_of(Caller("bob"), house.owner)
        session = partial(session_of, route, facts)
        for place in (each for each in facts.names if each.location == "message"):
            places += 1
            vendor_id = vendor_id_at(place)
            own = orjson.dumps(value_at(place.steps, house.sealed(route, place, vendor_id)))
            raw = orjson.dumps(value_at(place.steps, text_at(place, vendor_id)))
            assert session(ann).sent(own) == raw, place
            gone = house.sealed(route, place, vendor_id, holder=Holder("gone"))
            lost = orjson.dumps(value_at(place.steps, gone))
            for owner, message in ((bob, own), (ann, raw), (ann, lost)):
                with pytest.raises(GatewayError) as raised:
                    session(owner).sent(message)
                assert raised.value.status == 404, place
        for place in (each for each in facts.creates if each.location == "message"):
            places += 1
            raw = orjson.dumps(value_at(place.steps, text_at(place, vendor_id_at(place))))
            received = session(ann).received(raw)
            assert session(bob).received(raw) != received != raw, place
    assert places >= 12


def session_of(route: Route, facts: ObjectFacts, owner: bytes) -> SessionIds:
    """The ids of a session of a route, which an owner has."""
    holder = UPSTREAMS[route.operation.spec.partition("-")[0]]
    json_name = route.dialects[-1].json_name
    known = Sealer([KEY], DIALECTS)
    opener = IdOpener(known, everybody=False, passes=False)
    places = SealedPlaces(facts, json_name)
    sealer = ResponseSealer(places, known, owner, holder, str, str)
    return SessionIds(facts, opener, sealer, owner, holder, json_name)
