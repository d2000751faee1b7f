"""The effective config: it can be read again, names the origin of each value and has no secrets."""

import json
from pathlib import Path

import pytest

from engine.config.literal_secrets import secret_places
from engine.config.load import load_file
from engine.config.references import expander
from engine.offline.effective_config import EffectiveConfig
from engine.source.problem import Findings
from engine.source.reader import read
from tests.support import paths, yaml_text
from tests.support.each import each

CONFIGS = [
    paths.ROOT / "gateway.yaml",
    *sorted((paths.CASES / "whole").glob("*.yaml")),
    *sorted((paths.CASES / "configs").glob("*.yaml")),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def effective(main, *overlays, **environ):
    _, document = load_file(Path(main), environ, Findings(), [Path(name) for name in overlays])
    if not isinstance(document.value, dict):
        return None
    return EffectiveConfig(document), document


def shown(folder, text, **environ):
    """The value that is printed for a config, which is read as plain YAML."""
    (folder / "gateway.yaml").write_text(text, "utf-8")
    return yaml_text.load(effective("gateway.yaml", **environ)[0].yaml())


def without_secrets(value, original):
    """The value with None for what may be a secret in the original."""
    copy = json.loads(json.dumps(value))
    for path, _, _ in secret_places(original):
        holder = copy
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = None
    return copy


@each("file", CONFIGS, ids=lambda file: file.name)
def test_it_is_read_again_as_the_same_value(file):
    if (read_only := effective(file)) is None:
        return
    config, document = read_only
    again = read(config.yaml(), "again.yaml", expander({}, file.parent))
    unset = {problem.message for problem in document.problems}
    assert [p for p in again.problems if p.message not in unset] == []
    value = {name: below for name, below in document.value.items() if name != "include"}
    assert json.dumps(without_secrets(again.value, value)) == json.dumps(
        without_secrets(value, value)
    )


def test_each_value_has_the_file_and_line_it_comes_from(folder):
    (folder / "gateway.yaml").write_text(
        "include: [part.yaml]\nserver: {workers: 1, grace: 5s}\npolicies: []\n"
    )
    (folder / "part.yaml").write_text("models:\n  a: {to: []}\n")
    (folder / "prod.yaml").write_text("# prod\nserver: {workers: 2}\ntests: [{name: x}]\n")
    assert effective("gateway.yaml", "prod.yaml")[0].yaml() == (
        "server:\n"
        "  workers: 2  # prod.yaml:2\n"
        '  grace: "5s"  # gateway.yaml:2\n'
        "policies: []  # gateway.yaml:3\n"
        "models:\n"
        "  a:\n"
        "    to: []  # part.yaml:2\n"
        "tests:\n"
        "  - name: x  # prod.yaml:3\n"
    )


def test_as_json_an_empty_config_has_no_origins(folder):
    (folder / "gateway.yaml").write_text("{}\n")
    assert effective("gateway.yaml")[0].json() == {"config": {}, "origins": {}}


def test_as_json_the_origins_have_pointers(folder):
    (folder / "gateway.yaml").write_text("models: {a/b: {to: [{upstream: x}]}}\n")
    document = effective("gateway.yaml")[0].json()
    assert document == {
        "config": {"models": {"a/b": {"to": [{"upstream": "x"}]}}},
        "origins": {"/models/a~1b/to/0/upstream": "gateway.yaml:1:32"},
    }


@each(
    ("upstream", "expected"),
    [
        ('credential: {bearer: "s3cret"}', {"bearer": "***"}),
        ('credential: {bearer: "${KEY}"}', {"bearer": "${KEY}"}),
        ('credential: {bearer: "${KEY:-s3cret}"}', {"bearer": "${KEY:-***}"}),
        ('credential: {bearer: "${KEY:-}"}', {"bearer": "${KEY:-}"}),
        ('credential: {bearer: "s3cret${KEY}s3cret"}', {"bearer": "***${KEY}***"}),
        ('credential: {bearer: "s3cret$${KEY}"}', {"bearer": "***"}),
        (
            'credential: {header: authorization, value: "Bearer s3cret"}',
            {"header": "authorization", "value": "Bearer ***"},
        ),
        (
            'credential: {header: authorization, value: "Bearer ${KEY}"}',
            {"header": "authorization", "value": "Bearer ${KEY}"},
        ),
        ("url: https://me:s3cret@example.com/x", "https://me:***@example.com/x"),
        ("url: 'https://me:${KEY}@example.com/x'", "https://me:${KEY}@example.com/x"),
        ("url: 'https://me:${KEY:-s3cret}@example.com/x'", "https://me:${KEY:-***}@example.com/x"),
        ("url: https://example.com/x", "https://example.com/x"),
    ],
)
def test_secrets_are_masked(folder, upstream, expected):
    text = f"upstreams: {{main: {{{upstream}}}}}\n"
    (entry,) = shown(folder, text, KEY="s3cret").values()
    assert [*entry["main"].values()] == [expected]


def test_an_unquoted_variable_stays_a_number(folder):
    (folder / "gateway.yaml").write_text("server: {workers: '${A}', grace: 1}\nx: ${A}\n")
    text = effective("gateway.yaml", A="5")[0].yaml()
    assert '  workers: "${A}"  #' in text
    assert "\nx: ${A}  #" in text


@each(
    "value",
    ["", " a", "a ", "a: b", "- a", "#", "a #b", "yes", "1", "1e3", ".5", "~", "null", "\n", "\t",
     "a\u0085b", "\u2028", "\x7f", "\U0001f600", '"', "\\", "'", "*", "&a", "!x", "<<",
     "2024-01-01", True, False, None, 0, -1, 1.5, 1e300, float("inf"), [], {}, [[]],
     [[1], {"a": [{}]}]],
)  # fmt: skip
def test_values_and_names_are_written_as_they_are_read(folder, value):
    text = json.dumps({"x": {str(value): value}, "y": [value]}, ensure_ascii=value != "\U0001f600")
    (folder / "gateway.yaml").write_text(text.replace("Infinity", ".inf"), "utf-8")
    config, document = effective("gateway.yaml")
    again = read(config.yaml(), "again.yaml", expander({}, folder))
    assert again.problems == []
    assert again.value == document.value


def test_texts_of_an_overlay_elsewhere_are_relative_to_the_base(folder):
    (folder / "gateway.yaml").write_text("version: 1\n")
    (folder / "prod").mkdir()
    (folder / "prod/key").write_text("s3cret")
    (folder / "prod/overlay.yaml").write_text(
        "upstreams: {main: {credential: {bearer: '${file:key}'}, tls: {ca: '${CA}.pem'}}}\n"
    )
    config, document = effective("gateway.yaml", "prod/overlay.yaml", CA="ours")
    again = read(config.yaml(), "again.yaml", expander({"CA": "ours"}, folder))
    assert again.value == document.value
    main = yaml_text.load(config.yaml())["upstreams"]["main"]
    assert main == {"credential": {"bearer": "${file:prod/key}"}, "tls": {"ca": "prod/${CA}.pem"}}
