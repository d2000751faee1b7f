"""Hints: one for any value, and none that repeats what a variable holds."""

import pytest

from engine.config import hints, schema_check
from engine.config.keys import ANNOTATION, root
from engine.source.problem import Findings
from engine.source.reader import read
from tests.support.each import each

FORMATS = sorted(
    {key.notes[name] for key in root().all() for name in ("unit", "format") if name in key.notes}
)


@each("key", ["x", "on", "to", "auth", "token", "retention", "operation"])
@each(
    "value",
    ["", " ", "x" * 500, "\u201cx\u201d", 0, -1, 10**30, 1.5, float("nan"), True, None, [], {}],
)
def test_no_value_is_too_odd_for_a_hint(key, value):
    types = ["string", "boolean", "number", "array", "object"]
    formats = [{"pattern": "x", ANNOTATION: {"format": name}} for name in FORMATS]
    schemas = ({}, *formats, {"pattern": "x"}, {"properties": {"set": {}}})
    for schema in schemas:
        for kind in types:
            assert isinstance(hints.hint(key, value, schema, [kind]), str)
            assert isinstance(hints.example(schema, [kind]), str)
    assert isinstance(hints.choice(key, value, ["on", "5xx", 3]), str)
    assert isinstance(hints.constant(key, value, 1), str)


SECRET = "sk-AbCdEf"


@pytest.mark.parametrize(
    "config",
    [
        "cors: {origins: ['${KEY}']}",
        "server: {listen: '${KEY}', base_url: '${KEY}', max_body: '${KEY}', watch: '${KEY}'}",
        "upstreams: {main: {url: '${KEY}', proxy: '${KEY}', timeouts: '${KEY}', pool: '${KEY}'}}",
        "upstreams: {main: '${KEY}'}",
        "models: {small: '${KEY}', other: {to: '${KEY}', fallback: '${KEY}'}}",
        "tokens: [{name: a, sha256: '${KEY}', expires: '${KEY}', rate: '${KEY}', ips: '${KEY}'}]",
        "routes: [{operations: '${KEY}', model: '${KEY}', validate: '${KEY}', auth: '${KEY}'}]",
        "currency: ${KEY}",
        "include: ${KEY}",
        "specs: {shop: {document: x, mount: '${KEY}', token: ['${KEY}']}}",
    ],
)
def test_a_hint_never_repeats_what_a_variable_holds(config):
    marked = read(config, "f", lambda text: text.replace("${KEY}", SECRET))
    findings = Findings()
    schema_check.check(marked.value, schema_check.gateway_validator(), marked, (), findings)
    assert findings.problems
    output = "".join(f"{problem.message} {problem.hint}" for problem in findings.problems)
    assert SECRET.lower() not in output.lower()


@pytest.mark.parametrize(
    ("config", "is_place"),
    [
        ("models: {small: {to: [{upstream: main, model: [a]}]}}", False),
        ("routes: [{operation: a.b, model: body.model}]", True),
    ],
)
def test_a_hint_follows_the_key_and_not_its_last_name(config, is_place):
    findings, marked = Findings(), read(config, "f")
    schema_check.check(marked.value, schema_check.gateway_validator(), marked, (), findings)
    [hint] = [p.hint for p in findings.problems if p.message.startswith("'model'")]
    assert ("$request" in hint) == is_place


def test_a_duration_of_zero_is_not_its_own_remedy():
    wait = "upstreams: {main: {url: 'http://a', queue: {size: 1, wait: 0s}}}"
    findings, marked = Findings(), read(wait, "f")
    schema_check.check(marked.value, schema_check.gateway_validator(), marked, (), findings)
    [hint] = [p.hint for p in findings.problems if p.message == "'wait' is not a duration"]
    assert hint == "above zero: a number and its unit: 250ms, 3s, 10m, 1h, 90d"
