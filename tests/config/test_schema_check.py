"""The schema of gateway.yaml: it describes every key, and its refusals have words."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from engine import policies
from engine.config import json_schema, schema_check
from engine.config.keys import find, root
from engine.config.references import expander
from engine.config.server import Server
from engine.offline.diff.kinds.settings import fields_of
from engine.policies.interface import StagePolicy
from engine.source import files
from engine.source.problem import Findings
from engine.source.reader import read, read_file
from engine.values import units
from engine.values.discovery import Plugins
from tests.support.each import each

ARCHITECTURE = """
version: 1
server: {listen: "127.0.0.1:8080", workers: 2, max_body: 25MB}
specs:
  openai:    {document: openapi/openai.yaml,    dialect: openai}
  anthropic: {document: openapi/anthropic.yaml, dialect: anthropic}
  gemini:    {document: openapi/gemini.yaml, dialect: gemini, mount: [/v1beta, /v1, /v1alpha]}
upstreams:
  openai:
    url: https://api.openai.com/v1
    dialect: openai
    credential: {bearer: "key"}
    timeouts: {connect: 3s, first_byte: 60s, idle: 60s, total: 10m}
  claude:
    url: https://api.anthropic.com/v1
    dialect: anthropic
    credential: {header: x-api-key, value: "key"}
models:
  gpt-4o:
    to: [{upstream: openai, weight: 9}, {upstream: openai, model: gpt-4o-prod, weight: 1}]
    fallback: [claude-sonnet]
  claude-sonnet: {to: [{upstream: claude, model: claude-sonnet-4-20250514}]}
  "text-embedding-3-*": {to: [{upstream: openai}]}
policies:
  - max_body: 10MB
routes:
  - operations: [openai.createChatCompletion, anthropic.createMessage]
    model: $request.body#/model
  - operation: openai.connectRealtime
    model: {from: $request.query.model, default: gpt-realtime}
  - operation: openai.listModels
    answer: models
  - operations: orders.*
    to: [{upstream: openai}]
    validate: "off"
    auth: none
"""


def findings(value, against=None, text=None):
    collected = Findings()
    marked = read(text if text is not None else json.dumps(value), "f")
    validator = schema_check.Validator(against or json_schema.schema())
    schema_check.check(marked.value, validator, marked, (), collected)
    return collected.problems


def schemas(schema, at=""):
    """Every schema below a schema that stands for a value of the file, with its pointer."""
    if not isinstance(schema, dict):
        return
    yield at, schema
    for key in ("properties", "$defs"):
        for name, below in schema.get(key, {}).items():
            yield from schemas(below, f"{at}/{key}/{name}")
    for key in ("items", "additionalProperties"):
        yield from schemas(schema.get(key), f"{at}/{key}")
    for index, below in enumerate(schema.get("anyOf", [])):
        yield from schemas(below, f"{at}/anyOf/{index}")


ALL = list(schemas(json_schema.schema()))
KEYS = [
    (f"{at}/{name}", below)
    for at, schema in ALL
    for name, below in schema.get("properties", {}).items()
]


@each(("at", "schema"), KEYS, ids=[at for at, _ in KEYS])
def test_every_key_has_a_description(at, schema):
    if "$ref" in schema and "description" not in schema:
        schema = json_schema.schema()["$defs"][schema["$ref"].rpartition("/")[2]]
    description = schema.get("description", "")
    assert description.endswith((".", "...")), at
    assert len(description) > 12


@each(("at", "schema"), ALL, ids=[at or "all" for at, _ in ALL])
def test_every_mapping_is_closed_or_says_what_its_names_are(at, schema):
    if schema.get("type") == "object":
        one_policy = schema.get("maxProperties") == 1 and "properties" not in schema
        assert one_policy or "additionalProperties" in schema
        assert "properties" not in schema or schema["additionalProperties"] is False


def test_every_definition_is_used():
    text = json.dumps(json_schema.schema())
    for name in json_schema.schema()["$defs"]:
        assert f'"#/$defs/{name}"' in text


def test_the_patterns_of_durations_and_sizes_are_those_of_the_code():
    for at, schema in ALL:
        if "A duration" in schema.get("description", ""):
            assert schema["pattern"] == units.DURATION, at
        if "A size" in schema.get("description", ""):
            assert schema["pattern"] == units.SIZE, at


@each(("at", "schema"), ALL, ids=[at or "all" for at, _ in ALL])
def test_every_default_is_allowed_by_its_own_schema(at, schema):
    if "default" in schema:
        assert findings(schema["default"], {k: v for k, v in schema.items() if k != "$ref"}) == []


def test_the_defaults_are_those_of_the_code():
    for name, keys in fields_of(Server):
        schema = find(".".join(("server", *keys))).schema
        default = schema.get("default", "" if schema["type"] == "string" else ())
        if schema.get("pattern") == units.DURATION:
            default = units.seconds(default)
        elif schema.get("pattern") == units.SIZE:
            default = units.size(default)
        assert getattr(Server(), name) == default


def test_the_schema_names_every_choice_of_validation_once():
    route = json_schema.schema()["$defs"]["route"]["properties"]
    assert len(set(route["validate"]["enum"])) == len(route["validate"]["enum"])


@pytest.mark.parametrize("name", policies.names())
def test_every_policy_has_a_described_schema_that_is_a_schema(name):
    schema = policies.KINDS.get(name).schema
    assert schema["description"]
    assert "type" in schema
    findings(None, schema)


@pytest.mark.parametrize("name", policies.names())
def test_every_manual_of_a_policy_begins_with_an_example(name):
    manual = __import__(f"engine.policies.{name}", fromlist=["x"]).__doc__
    assert manual.startswith(f"`{name}:"), "the manual begins with an example"


def test_a_plugin_whose_schema_is_none_is_rejected(monkeypatch):
    plugins = Plugins("engine.policies", "POLICY", StagePolicy)
    kinds = {"a": StagePolicy(schema={"type": "riddle"}, read=str, build=str)}
    kinds["b"] = StagePolicy(schema={"type": "string"}, read=str, build=str)
    rejected = []
    monkeypatch.setattr(Plugins, "installed", kinds)
    monkeypatch.setattr(Plugins, "reject", lambda self, *arguments: rejected.append(arguments))
    schema_check.reject_invalid(plugins, lambda kind: kind.schema)
    ((name, reason),) = rejected
    assert name == "a"
    assert reason.startswith("the schema of its options is not valid: ")


def test_the_shipped_config_passes():
    marked = read_file(files.CONFIG, "gateway.yaml", expander({}, files.CONFIG.parent))
    collected = Findings()
    schema_check.check(marked.value, schema_check.gateway_validator(), marked, (), collected)
    assert (marked.problems, collected.problems) == ([], [])


def test_the_example_of_the_manual_passes():
    assert findings(None, text=ARCHITECTURE) == []


def test_the_editor_line_of_the_shipped_config_leads_to_the_schema():
    line = files.CONFIG.read_text("utf-8").splitlines()[0]
    match = re.fullmatch(r"# yaml-language-server: \$schema=(.+)", line)
    assert match is not None
    assert (files.CONFIG.parent / Path(match[1])).samefile(files.SCHEMA)


def test_a_valid_config_needs_no_second_validator():
    """Its import takes 45 ms and 2 MB, which every worker would have."""
    program = (
        "import sys; import engine.app.build, engine.plan.assembly.make_plan;"
        "from pathlib import Path;"
        f"engine.plan.assembly.make_plan.make_plan(Path({str(files.CONFIG)!r}), {{}});"
        "assert not {'jsonschema', 'referencing', 'attrs'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_schema_that_was_freed_is_made_again():
    validator, before = schema_check.gateway_validator(), root()
    assert schema_check.gateway_validator() is validator
    schema_check.free_schema()
    assert schema_check.gateway_validator() is not validator
    assert root() is not before
    assert [key.name for key in root().all()] == [key.name for key in before.all()]
