"""The JSON Schemas as an editor's language server reads them: valid, and right about real files."""

import functools
import json
import re
from pathlib import Path

import jsonschema_rs
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from engine import cli
from engine.cli.schema import text
from engine.source import files
from engine.source.reader import read
from tests.support.each import each
from tests.support.mutations import FULL_PROJECT
from tests.support.thorough import scale

SCHEMAS = sorted(files.SCHEMA.parent.glob("*.schema.json"))
CASES = FULL_PROJECT.parent
FOLDER = "https://example.com/schemas/"


def loaded(path):
    return json.loads(path.read_text("utf-8"))


def validator(name):
    """As an editor resolves it: a reference starts at the file's own address."""
    resources = [(FOLDER + path.name, Resource(loaded(path), DRAFT202012)) for path in SCHEMAS]
    return Draft202012Validator(
        {"$ref": FOLDER + name}, registry=Registry().with_resources(resources)
    )


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_a_schema_is_valid_under_its_draft_and_says_which_it_is(path):
    schema = loaded(path)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(schema)


@functools.cache
def judges(name):
    """Two validators that know nothing of us: each says whether a value is right."""
    registry = [(FOLDER + path.name, loaded(path)) for path in SCHEMAS]
    second = jsonschema_rs.Draft202012Validator(
        {"$ref": FOLDER + name}, registry=jsonschema_rs.Registry(registry)
    )
    return [validator(name).is_valid, second.is_valid]


def verdicts(value, name="gateway.schema.json"):
    return [judge(value) for judge in judges(name)]


def as_written(text):
    """What a file says to a reader that knows nothing of `${VAR}`."""
    return read(text, "gateway.yaml").value


def good_configs():
    yield files.CONFIG
    yield FULL_PROJECT / "gateway.yaml"
    for path in sorted(CASES.rglob("*.yaml")):
        text = path.read_text("utf-8")
        is_config = re.search("^version: 1$.*^routes:", text, re.MULTILINE | re.DOTALL) is not None
        if is_config and (path.parent.name != "configs" or "# expect: nothing" in text):
            yield path


@each("path", list(good_configs()), ids=lambda path: path.stem)
def test_a_good_config_is_right_for_other_validators(path):
    assert verdicts(as_written(path.read_text("utf-8"))) == [True, True]


def documented():
    """The pieces of configs that stand in the texts for users, by file and line."""
    pages = sorted((files.HOME / "docs").rglob("*.md"))
    for page in (files.HOME / "README.md", files.HOME / "CONTRIBUTING.md", *pages):
        name, text = page.relative_to(files.HOME), page.read_text("utf-8")
        for fence in re.finditer(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            value = as_written(fence[1])
            if isinstance(value, list):
                value = {"routes": value}
            if isinstance(value, dict) and "overlay" not in value:
                yield pytest.param(value, id=f"{name}:{text[: fence.start()].count(chr(10)) + 2}")


@pytest.mark.parametrize("value", list(documented()))
def test_a_documented_piece_is_right_for_other_validators(value):
    name = "gateway.schema.json" if "version" in value else "part.schema.json"
    assert verdicts(value, name) == [True, True]


def places(value, at=()):
    """The places of all plain values."""
    for key, below in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(below, dict | list):
            yield from places(below, (*at, key))
        else:
            yield (*at, key)


def test_every_plain_value_may_be_a_reference():
    """What stands under `tests` is values of requests and answers: those are taken as they are."""
    config = as_written((FULL_PROJECT / "gateway.yaml").read_text("utf-8"))
    first, second = judges("gateway.schema.json")
    for at in list(places(config))[:: scale(5, 1)]:
        changed = json.loads(json.dumps(config))
        holder = changed
        for step in at[:-1]:
            holder = holder[step]
        holder[at[-1]] = "${VAR:-x}"
        assert (first(changed), second(changed)) == (True, True), at


@pytest.mark.parametrize(
    "policy",
    [
        "{rate_limit: {requests: 600, per: 60}}",
        "{rate_limit: {requests: 600}}",
        "{rate_limit: {requests: 0, per: 1m}}",
        "{rate_limit: {requests: 1, per: 1m, by: nobody}}",
        "{rate_limits: {requests: 1, per: 1m}}",
        "{max_body: 5}",
        "{allow_ips: []}",
        "{max_body: 1MB, allow_ips: [10.0.0.0/8]}",
        "rate_limit",
        "{}",
    ],
)
@pytest.mark.parametrize("where", ["policies", "route"])
def test_a_bad_policy_is_wrong_for_other_validators(policy, where):
    value = as_written(files.CONFIG.read_text("utf-8"))
    (value if where == "policies" else value["routes"][0])["policies"] = [as_written(policy)]
    assert verdicts(value) == [False, False]


def test_the_schema_is_that_of_the_sections_and_the_policies():
    """Out of date: run `modelway schema -o schemas/gateway.schema.json`."""
    assert files.SCHEMA.read_text("utf-8") == text()


@pytest.mark.parametrize(
    ("part", "right"),
    [
        ("models: {m: {to: [{upstream: u}]}}", True),
        ("routes: [{operation: s.o, answer: models}]\nversion: 1", True),
        ("upstreams: {u: {url: http://h, urk: 1}}", False),
        ("include: [a.yaml]", False),
        ("zebra: 1", False),
    ],
)
def test_a_part_is_held_against_the_sections_of_the_whole(part, right):
    assert verdicts(as_written(part), "part.schema.json") == [right, right]


def test_a_part_may_have_every_section_but_include():
    sections = set(loaded(files.SCHEMA)["properties"])
    part = loaded(files.SCHEMA.parent / "part.schema.json")["properties"]
    assert set(part) == sections - {"include"}
    assert part == {name: {"$ref": f"gateway.schema.json#/properties/{name}"} for name in part}


def test_init_writes_the_line_that_editors_read_and_the_schema_it_names(tmp_path):
    assert CliRunner().invoke(cli.main, ["init", str(tmp_path / "p")]).exit_code == 0
    text = (tmp_path / "p/gateway.yaml").read_text("utf-8")
    assert verdicts(as_written(text)) == [True, True]
    first = text.splitlines()[0]
    match = re.fullmatch(r"# yaml-language-server: \$schema=(.+)", first)
    assert match is not None
    assert loaded(tmp_path / "p" / match[1]) == loaded(files.SCHEMA)
    assert (tmp_path / "p/schemas/part.schema.json").is_file()


def test_every_section_has_words_for_hovering_over_it():
    schema = loaded(files.SCHEMA)
    for name, section in schema["properties"].items():
        below = schema["$defs"][Path(section["$ref"]).name] if "$ref" in section else section
        assert section.get("description") or below.get("description"), name
