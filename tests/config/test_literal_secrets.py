"""Secrets that are written out, in files that are right, wrong, or no YAML at all."""

import pytest

from engine.config.literal_secrets import literals
from engine.config.load import load
from engine.source.problem import Findings, render
from engine.source.reader import read

BEFORE = "version: 1\nupstreams:\n  main: "


def secrets_in(text, expand=None):
    marked = read(text, "f", expand)
    return [marked.text[literal.start : literal.end] for literal in literals(marked)]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("{credential: {bearer: sk-1}}", ["sk-1"]),
        ("{credential: {bearer: 'sk 1'}, url: x}", ["sk 1"]),
        ('{credential: {bearer: "sk\\"1"}, url: x}', ['sk\\"1']),
        ("{credential: {header: x, value: a b c}}", ["a b c"]),
        ("{credentials: [{bearer: a}, {query: k, value: b}]}", ["a", "b"]),
        ("{url: 'http://u:pw@h/x', proxy: http://u:pw2@h}", ["pw", "pw2"]),
        ("{url: http://u@h/x, proxy: http://h:80}", []),
        ("{headers: {set: {x-api-key: k, x-team: t}, add: {Cookie: c}}}", ["k", "c"]),
        ("{credential: &c {bearer: sk-1}, credentials: [*c]}", ["sk-1", "sk-1"]),
        ("{headrs: {set: {cookie: k, x-team: t}}, urll: 'http://u:pw@h'}", ["k", "pw"]),
        ("5", []),
        ("{credential: 5, credentials: 5, headers: 5, url: 5}", []),
        ("{credential: {bearer: 5}, headers: {set: [a]}}", []),
    ],
)
def test_secrets_are_found_where_they_are_written(text, secret):
    assert secrets_in(BEFORE + text) == secret


@pytest.mark.parametrize(
    "text", ["upstreams: 5", "stores: [a]", "- a", "5", "", "upstreams: {a: }"]
)
def test_values_of_another_shape_hold_none(text):
    assert secrets_in(text) == []


def test_references_are_no_literal_secrets_but_long_defaults_are():
    def expand(text):
        return text.replace("${K}", "sk-out").replace(
            "${L:-sk-a-long-default}", "sk-a-long-default"
        )

    text = '{credential: {bearer: "${K}"}, credentials: [{bearer: "${L:-sk-a-long-default}"}]}'
    assert secrets_in(BEFORE + text, expand) == ["sk-a-long-default"]


@pytest.mark.parametrize(
    "text",
    [
        BEFORE + "{credential: {bearer: sk-1-secret}, url: [}",
        BEFORE + "{credential: {bearer: sk-1-secret}, urk: 1}",
        BEFORE + "{url: 'http://u:sk-1-secret@h', urk: 1}",
        BEFORE + "{url: 'http://u:sk-1-secret@h', urk: [}",
        BEFORE + "{credential: {header: x, value: 'sk-1-secret'}, url: [}",
        BEFORE + "{credential: {header: x, value: Basic sk-1-secret}, url: [}",
        BEFORE + '{transform: {headers: {set: {Authorization: "Bearer sk-1-secret"}}, url: [}',
        BEFORE + "{transform: {query: {set: {api_key: sk-1-secret}}, url: [}",
        BEFORE + '{transform: {query: {set: {"x-auth": sk-1-secret}}, url: [}',
        BEFORE + "{transform: {query: {set: {x: sk-1-secret-of-a-vendor}}, url: [}",
        BEFORE + "\n    credential:\n      bearer: |\n        sk-1-secret\n      urk: 1\n",
        BEFORE
        + "\n    credential: {bearer: |\n        sk-1-secret\n\n        sk-1-secret\n    url: [\n",
        BEFORE + "{password: a sk-1-secret\n",
        BEFORE + "{password: {a: sk-1-secret}, url: [}",
        BEFORE + "{password: ${USER}:sk-1-secret, url: [}",
        *(
            BEFORE + f"\n    password: {first}sk-1-secret\n    a: [\n"
            for first in "'\"*&|>[{#!,@`%"
        ),
        BEFORE + "\n    password: 'top''sk-1-secret' x\n",
    ],
)
def test_no_problem_shows_a_written_secret_even_where_the_file_is_broken(text, tmp_path):
    findings = Findings()
    load(text, "f", tmp_path, {}, findings)
    assert findings.errors
    output = "\n".join(render(problem, findings.texts) for problem in findings.problems)
    assert "sk-1-secret" not in output
    assert "sk-1-secret" not in findings.texts["f"]
    assert len(findings.texts["f"]) == len(text)


def test_references_stay_in_sight_where_the_file_is_broken():
    assert secrets_in(BEFORE + "{credential: {bearer: ${KEY}}, models: {small: [}") == []
    assert secrets_in(BEFORE + 'key: "${KEY}", tokens: [{name: a}, models: [b}') == []


def test_what_a_hidden_value_holds_is_hidden_once():
    """A name below another one would be searched for as often as names stand before it."""
    text = BEFORE + "\n  a: token: token: x\n    token: y\n  password: z\n  b: [\n"
    assert secrets_in(text) == ["token: x\n    token: y", "z"]


TOKEN = "mw-" + "cd" * 32


@pytest.mark.parametrize(
    "text",
    [
        f"tokens: [{{name: alice, sha256: {TOKEN}}}]",
        f"tokens: [{{name: alice, secret: {TOKEN}}}]",
        f"upstreams: {{main: {{credential: {TOKEN}}}}}",
        f"upstreams: {{main: {{api_key: {TOKEN}}}}}",
        f"upstreams: {{main: {{password: {TOKEN}}}}}",
        f"telemetry: {{traces: {{headers: {{authorization: {TOKEN}}}}}}}",
    ],
)
def test_a_secret_where_none_belongs_is_hidden_as_well(text):
    assert secrets_in(f"version: 1\n{text}\n") == [TOKEN]


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("api-version", False),
        ("Anthropic-Version", False),
        ("version", False),
        ("OpenAI-Organization", False),
        ("openai-project", False),
        ("api-key", True),
        ("versioned", True),
        ("key", True),
    ],
)
def test_public_parameters_beside_a_credential_are_no_secret(name, secret):
    text = BEFORE + f"{{credential: {{query: {name}, value: 2024-10-21}}}}"
    assert secrets_in(text) == (["2024-10-21"] if secret else [])
