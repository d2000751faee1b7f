"""Dialects are found by their place, and named in `engine/dialects` alone."""

import ast
import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

import engine
from engine import dialects

ENGINE = Path(engine.__file__).parent

EXCEPTIONS = {
    "credentials/aws.py": "AWS names its service in signatures so",
    "plan/model_tools.py": "the formats in which a tool can ask its models",
    "translations/vendors/anthropic_models.py": "the provider whose file has its models",
    "exchange/request_client.py": "the name of an agent, as `modelway connect` has it",
    "mock/batches.py": "how each vendor writes the results of a batch",
    "config/guessable_secrets.py": "a word that people take as a secret",
    "offline/imports/sources/*": "other gateways have names of providers that are the same",
}
"""Patterns of modules with such a word, and what it means there."""


def test_no_other_module_names_the_dialect_of_a_vendor():
    names = set(dialects.names()) - {dialects.PLAIN}
    literal = re.compile("|".join(f"['\"]{name}['\"]" for name in names))
    literals = [
        f"{path.relative_to(ENGINE)}:{node.lineno} {node.value!r}"
        for path in sorted(ENGINE.rglob("*.py"))
        if not path.is_relative_to(ENGINE / "dialects")
        and ENGINE / "translations" not in path.parents[1:]  # languages belong to a vendor
        and not path.name.startswith("openai_")
        and not any(fnmatch(str(path.relative_to(ENGINE)), each) for each in EXCEPTIONS)
        if literal.search(text := path.read_text("utf-8"))  # others need not be parsed
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and node.value in names
    ]
    assert literals == []


def test_the_default_and_the_plain_dialect_exist():
    assert {dialects.DEFAULT, dialects.PLAIN} <= set(dialects.names())
    assert dialects.by_request()[-1] is dialects.default()


def test_a_dialect_is_found_by_its_name():
    assert [dialects.get(name).name for name in dialects.names()] == dialects.names()


def test_the_interface_is_no_dialect():
    assert "interface" not in dialects.names()


@pytest.mark.parametrize(
    ("environ", "query", "claimed"),
    [
        ({}, "", set()),
        ({"HTTP_ANTHROPIC_VERSION": "2023-06-01"}, "", {"anthropic"}),
        ({"HTTP_X_GOOG_API_KEY": "k"}, "", {"gemini"}),
        ({}, "key=k", {"gemini"}),
        ({}, "a=b&key=k", {"gemini"}),
        ({}, "monkey=k", set()),
        ({}, "a=key=k", set()),
        ({"HTTP_X_API_KEY": "k"}, "", set()),
    ],
)
def test_a_request_is_claimed_by_its_headers_and_query(environ, query, claimed):
    every = [dialects.get(name) for name in dialects.names()]
    assert {d.name for d in every if d.claims(environ, query)} == claimed


@pytest.mark.parametrize(
    ("name", "path", "body", "expected"),
    [
        ("openai", "/v1/embeddings", {}, True),
        ("openai", "/v1/images/edits", {}, True),
        ("openai", "/v2/rerank", {}, True),
        ("gemini", "/v1beta/models/m:embedContent", {}, True),
        ("openai", "/v1/audio/transcriptions", {}, True),
        ("openai", "/v1/audio/transcriptions", {"response_format": "verbose_json"}, True),
        ("openai", "/v1/audio/transcriptions", {"response_format": "srt"}, False),
        ("openai", "/v1/audio/transcriptions", {"response_format": ["json"]}, False),
        ("openai", "/v1/audio/speech", {}, False),
        ("openai", "/v1/chat/completions", {}, False),
        ("openai", "/v1/files/a/content", {}, False),
    ],
)
def test_some_operations_answer_json_alone(name, path, body, expected):
    assert dialects.get(name).answers_json(path, body) is expected


@pytest.mark.parametrize(
    ("name", "path", "expected"),
    [
        ("openai", "/v1/chat/completions", True),
        ("openai", "/v1/responses", True),
        ("openai", "/v1/embeddings", False),
        ("anthropic", "/v1/messages", True),
        ("anthropic", "/v1/messages/count_tokens", False),
    ],
)
def test_the_path_says_whether_an_operation_is_a_chat(name, path, expected):
    assert dialects.get(name).has_chat(path) is expected
