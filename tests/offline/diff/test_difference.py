"""Differences in effect: each case is a change of one small project, there and back."""

import re
from pathlib import Path

import pytest

from engine.offline.diff import formats
from engine.offline.diff.difference import Effect, differences_between
from engine.plan.assembly.make_plan import make_plan
from tests.support import paths, yaml_text
from tests.support.rehearsing import patched, planned

CASES = paths.CASES / "diff"
FILES = sorted(CASES.glob("*.yaml"))
CONFIG = (CASES / "base" / "gateway.yaml").read_text()
DOCUMENT = (CASES / "base" / "shop.yaml").read_text()
SECRETS = re.compile(r"first-secret|second-secret|hush|[0-9]{60}")


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return planned(tmp_path_factory.mktemp("base"), CONFIG, DOCUMENT)


def kinds_and_places(differences):
    return sorted(
        f"{difference.level} {difference.kind} {' '.join(difference.subjects)}"
        for difference in differences
    )


def kinds(differences):
    """Each once: a case names a kind and whom it is about, not how often."""
    return sorted(set(kinds_and_places(differences)))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_change_is_reported_in_both_directions(base, tmp_path, file):
    case = yaml_text.load(file.read_text())
    config, document = CONFIG, DOCUMENT
    if both := case.get("both"):  # a patch of the config, and one of the document, of both sides
        config, document = (patched(CONFIG, both["config"]), patched(DOCUMENT, both["document"]))
        base = planned(tmp_path / "base", config, document)
    config = patched(config, case.get("config", {}))
    document = patched(document, case.get("document", {}))
    changed = planned(tmp_path / "changed", config, document)
    there, back = differences_between(base, changed), differences_between(changed, base)
    assert (kinds(there), kinds(back)) == (case["there"], case["back"])
    for difference in (*there, *back):
        lines = Path(difference.place.file).read_text().splitlines()
        assert 1 <= difference.place.line <= len(lines)
        assert difference.place.column <= len(lines[difference.place.line - 1]) + 1
    for shape in (formats.as_text, formats.as_json, formats.as_github):
        assert not SECRETS.search(shape(there) + shape(back))
    assert differences_between(changed, changed) == []


def test_there_are_many_cases():
    assert len(FILES) >= 70


def test_every_kind_that_the_engine_knows_is_in_a_case():
    engine = Path(formats.__file__).parent
    texts = "".join(file.read_text() for file in engine.rglob("*.py"))
    all_kinds = set(re.findall(r'"([a-z]+(?:-[a-z]+)+)"', texts))
    all_kinds -= {"policy-changed"}  # for policies that are neither a limit nor a list: none so far
    kinds_of_cases = {
        line.split()[1]
        for file in FILES
        for direction in ("there", "back")
        for line in yaml_text.load(file.read_text())[direction]
    }
    assert all_kinds - kinds_of_cases == set()


def test_equal_differences_of_many_routes_are_one(base, tmp_path):
    config = patched(CONFIG, {"policies": []})
    (difference,) = differences_between(base, planned(tmp_path, config, DOCUMENT))
    assert difference.subjects == ("shop.chat", "shop.show")
    assert difference.place.file == base.plan.config.source.file


def test_the_gravest_comes_first(base, tmp_path):
    patch = {
        "policies": [],
        "server": {"workers": 9},
        "models": {"new": {"to": [{"upstream": "main"}]}},
    }
    differences = differences_between(base, planned(tmp_path, patched(CONFIG, patch), DOCUMENT))
    assert [difference.level for difference in differences] == [
        Effect.WEAKER,
        Effect.CHANGED,
        Effect.ADDED,
    ]


def test_a_difference_has_its_line_and_its_words(base, tmp_path):
    text = CONFIG.replace("total: 5m", "total: 6m")
    (difference,) = differences_between(base, planned(tmp_path, text, DOCUMENT))
    at = next(n for n, line in enumerate(text.splitlines(), 1) if "total: 6m" in line)
    assert (difference.place.line, difference.place.column) == (at, 36)
    assert difference.message == "timeouts.total is 6m, was 5m"
    assert f":{at}:36: changed: upstream main: timeouts.total is 6m, was 5m [" in str(difference)


def test_a_breach_in_a_document_is_placed_in_the_document(base, tmp_path):
    text = DOCUMENT.replace("required: [messages]", "required: [messages, mood]")
    (difference,) = differences_between(base, planned(tmp_path, CONFIG, text))
    assert Path(difference.place.file).name == "shop.yaml"
    assert "'Chat.mood' is required now" in difference.message
    lines = text.splitlines()
    assert any(
        "mood" in line for line in lines[difference.place.line - 1 : difference.place.line + 2]
    )


def test_what_came_out_of_the_environment_is_never_shown(tmp_path):
    before = patched(CONFIG, {"server": {"base_url": "https://${HOST_NAME}.test"}})
    after = before.replace("${HOST_NAME}", "other")
    environ = {"HOST_NAME": "first-secret"}
    sides = []
    for name, text in (("a", before), ("b", after)):
        planned(tmp_path / name, CONFIG, DOCUMENT)
        file = tmp_path / name / "gateway.yaml"
        file.write_text(text)
        sides.append(make_plan(file, environ))
    (difference,) = differences_between(*sides)
    assert difference.message == "base_url is https://other.test, was https://${HOST_NAME}.test"


def test_the_words_of_a_difference_are_those_of_gateway_yaml(base, tmp_path):
    patch = {
        "server": {"max_body": "1MiB", "body_timeout": "90s", "watch": True},
        "stores": {"retention": "1d"},
        "console": {"docs": False},
    }
    differences = differences_between(base, planned(tmp_path, patched(CONFIG, patch), DOCUMENT))
    assert [difference.message for difference in differences] == [
        "body_timeout is 90s, was 1m",
        "retention is 1d, was for ever",
        "max_body is 1MiB, was 25MB",
        "watch is true, was false",
        "docs is false, was true",
    ]
