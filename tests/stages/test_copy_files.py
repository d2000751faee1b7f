"""The stage that copies files: which ones, where to, and what the stages behind it see."""

import signal
from types import SimpleNamespace

import gevent
import orjson
import pytest

from engine import dialects
from engine.exchange.exchange import Response
from engine.exchange.opened_ids import Holder
from engine.exchange.request_body import Body
from engine.objects.facts_reader import read_facts
from engine.objects.id_opener import IdOpener
from engine.objects.sealed_ids import Identity, Sealer, owner_of
from engine.process.preemption import Preemption
from engine.stages.copy_files import FileSettings, copy_files
from engine.values.caller import Caller
from engine.values.errors import GatewayError
from tests.support.each import each
from tests.support.exchanges import new_exchange
from tests.support.preempting import interrupting

ANN = Caller("ann")
SEALER = Sealer(["a key for tests " * 4], ["a", "b", "c"])
PLACES = {
    "openai": {"names": {"file": "body#/**/file_id", "box": "body#/box"}},
    "gemini": {
        "names": {
            "file": {
                "at": "body#/**/fileUri",
                "after": "files/",
                "prefix": "files/",
                "hosts": ["generativelanguage.googleapis.com"],
            }
        }
    },
}


class Copier:
    def __init__(self):
        self.copies, self.forgotten = [], []

    def copy(self, exchange, sealed, identity, to):
        self.copies.append((identity.vendor_id, to))
        prefix = "files/" if to.upstream == "c" else "file_"
        return sealed_id(f"{prefix}{identity.vendor_id[-1]}", to.upstream)

    def forget(self, identity, to):
        self.forgotten.append((identity.vendor_id, to))


def sealed_id(vendor_id, upstream, caller=ANN, kind="file"):
    identity = Identity(vendor_id, Holder(upstream), owner_of(caller, "token"))
    return SEALER.seal(identity, kind)


def run(value, upstreams=("b",), dialect="openai", status=200):
    """What was copied, and the body behind the stage."""
    form = dialects.get(dialect)
    facts, faults = read_facts(PLACES[dialect])
    assert not faults
    opener = IdOpener(SEALER, everybody=False, passes=False)
    settings = FileSettings(facts.names, opener, "token", form.files, form.json_name)
    targets = [
        SimpleNamespace(
            upstream=SimpleNamespace(name=name, dialect="gemini" if name == "c" else "openai")
        )
        for name in upstreams
    ]
    exchange = new_exchange(
        body=Body(orjson.dumps(value)),
        value=value,
        caller=ANN,
        model="m",
        targets=targets,
        dialect=form,
    )
    copier, seen = Copier(), []

    def last(exchange):
        assert orjson.loads(exchange.body.buffer) == exchange.content.value
        seen.append(exchange.content.value)
        return Response(status, [])

    copy_files(settings, copier, None)(exchange, last)
    return copier, seen[0]


def test_a_request_is_not_interrupted_any_more_when_files_are_copied(monkeypatch):
    preemption, timers, copy = Preemption(), [], Copier.copy
    monkeypatch.setattr("engine.stages.copy_files.PREEMPTION", preemption)

    def noting(*args):
        timers.append(signal.getitimer(signal.ITIMER_PROF))
        return copy(*args)

    def compute():
        preemption.begin()
        run({"file_id": sealed_id("file-1", "a")})

    monkeypatch.setattr(Copier, "copy", noting)
    with interrupting(preemption):
        gevent.spawn(compute).get()
    assert timers == [(0.0, 0.0)]


def test_a_file_of_another_upstream_is_copied_to_that_of_the_target():
    copier, seen = run({"x": [{"file_id": sealed_id("file-1", "a")}, {"file_id": "plain"}]})
    assert copier.copies == [("file-1", Holder("b"))]
    assert seen == {"x": [{"file_id": sealed_id("file_1", "b")}, {"file_id": "plain"}]}


def test_a_file_that_a_target_has_is_not_copied():
    value = {"file_id": sealed_id("file-1", "b")}
    copier, seen = run({**value}, upstreams=("a", "b"))
    assert (copier.copies, seen) == ([], value)


def test_files_go_where_other_objects_of_the_request_are():
    value = {"file_id": sealed_id("file-1", "a"), "box": sealed_id("box-1", "d", kind="box")}
    with pytest.raises(GatewayError):
        run(value)  # of an upstream that there is not
    box = sealed_id("box-1", "c", kind="box")
    copier, _ = run({"file_id": sealed_id("file-1", "a"), "box": box}, upstreams=("b", "c"))
    assert copier.copies == [("file-1", Holder("c"))]


def test_a_target_that_is_asked_in_another_format_gets_no_copy():
    value = {"file_id": sealed_id("file-1", "a")}
    copier, seen = run({**value}, upstreams=("c",))
    assert (copier.copies, seen) == ([], value)


@each(
    "uri",
    [
        sealed_id("file-1", "a"),
        f"https://generativelanguage.googleapis.com/v1beta/{sealed_id('files/1', 'a')}",
    ],
)
def test_an_api_that_names_files_by_urls_gets_one(uri):
    copier, seen = run({"fileUri": uri}, upstreams=("c",), dialect="gemini")
    assert len(copier.copies) == 1
    url = "https://generativelanguage.googleapis.com/v1beta/"
    assert seen == {"fileUri": url + sealed_id("files/1", "c")}


@each("uri", ["https://youtu.be/files/abc", "gs://x/files/y"])
def test_other_addresses_are_no_files(uri):
    copier, seen = run({"fileUri": uri}, upstreams=("c",), dialect="gemini")
    assert (copier.copies, seen) == ([], {"fileUri": uri})


def test_nobody_copies_the_file_of_another():
    with pytest.raises(GatewayError) as excinfo:
        run({"file_id": sealed_id("file-1", "a", Caller("bob"))})
    assert excinfo.value.status == 404


@each(("status", "count"), [(200, 0), (404, 1), (400, 1), (500, 0), (429, 0)])
def test_a_copy_that_may_be_gone_is_forgotten(status, count):
    copier, _ = run({"file_id": sealed_id("file-1", "a")}, status=status)
    assert len(copier.forgotten) == count
