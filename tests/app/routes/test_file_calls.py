"""Calls of operations that describe, download and upload files."""

import pytest

from engine.app.routes.file_calls import CannotCopy, FileCalls
from engine.dialects.interface.files import FileFacts
from engine.edge.inside_call import InsideCalls
from engine.exchange.opened_ids import Holder
from engine.exchange.request_body import Body
from engine.plan.assembly.make_plan import make_plan
from tests.support.each import each
from tests.support.exchanges import new_exchange

CONFIG = """
version: 1
specs: {v: {document: v.yaml, dialect: openai}}
upstreams: {away: {url: "http://127.0.0.1:9"}}
routes: [{operation: v.a, to: [{upstream: away}]}]
"""
DOCUMENT = """
openapi: 3.1.0
info: {title: V, version: "1"}
paths: {/a: {get: {operationId: a, responses: {"200": {description: A}}}}}
"""
FACTS = FileFacts("a", "text/plain", 1)


@each(
    ("call", "words"),
    [
        (lambda calls, *of: calls.describe(*of), "downloads files from 'away'"),
        (lambda calls, *of: [*calls.content(*of, 9)], "downloads files from 'away'"),
        (lambda calls, exchange, _, to: calls.upload(exchange, FACTS, Body(b"a"), to), "uploads"),
        (lambda calls, exchange, _, to: calls.lifetime(to), "uploads files to 'away'"),
    ],
)
def test_what_no_route_does_is_named(tmp_path, call, words):
    (tmp_path / "gateway.yaml").write_text(CONFIG)
    (tmp_path / "v.yaml").write_text(DOCUMENT)
    result = make_plan(tmp_path / "gateway.yaml", {})
    assert result.plan is not None, result.problems
    with pytest.raises(CannotCopy, match=f"no route of this gateway {words}"):
        call(FileCalls(result.plan, InsideCalls()), new_exchange(), "file-mwa", Holder("away"))
