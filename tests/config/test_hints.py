"""What a value was meant to be, and hints that never repeat what came out of `${...}`."""

import pytest

from engine.config import hints, likely_value, schema_check
from engine.source.problem import Findings
from engine.source.reader import read
from tests.support.each import each


@pytest.mark.parametrize(
    ("value", "whole", "right"),
    [
        (3, False, "3s"),
        (3.5, False, "3500ms"),
        ("3 s", False, "3s"),
        ("3Sec", False, "3s"),
        ("10 minutes", False, "10m"),
        ("1h30m", False, "90m"),
        ("1.5h", False, "90m"),
        (".5s", False, "500ms"),
        ("90 days", False, "90d"),
        ("minute", True, "1m"),
        ("per hour", True, ""),
        ("250ms", True, ""),
        (True, False, ""),
        (float("inf"), False, ""),
        ("never", False, ""),
        ("-3s", False, ""),
        ([3], False, ""),
    ],
)
def test_a_duration_is_recognised(value, whole, right):
    assert likely_value.duration(value, whole=whole) == right


@pytest.mark.parametrize(
    ("value", "right"),
    [
        (25_000_000, "25MB"),
        (1024, "1024B"),
        ("25 MB", "25MB"),
        ("25mb", "25MB"),
        ("25M", "25MB"),
        ("1gi", "1GiB"),
        ("1.5 GB", "1.5GB"),
        ("10 bytes", "10B"),
        ("big", ""),
        (True, ""),
        (-1, ""),
    ],
)
def test_a_size_is_recognised(value, right):
    assert likely_value.size(value) == right


@each("key", sorted({*likely_value.OF_KEY, *hints.ELSEWHERE.values(), "x", "on"}))
@each(
    "value",
    ["", " ", "x" * 500, "\u201cx\u201d", 0, -1, 10**30, 1.5, float("nan"), True, None, [], {}],
)
def test_no_value_is_too_odd_for_a_hint(key, value):
    types = ["string", "boolean", "number", "array", "object"]
    schemas = ({}, {"pattern": "(ms|s|m|h|d)$"}, {"pattern": "x"}, {"properties": {"set": {}}})
    for schema in schemas:
        for kind in types:
            assert isinstance(hints.hint(key, value, schema, [kind]), str)
            assert isinstance(hints.example(key, schema, [kind]), str)
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
    said = "".join(f"{problem.message} {problem.hint}" for problem in findings.problems)
    assert SECRET.lower() not in said.lower()
