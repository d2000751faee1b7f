"""gateway.yaml in several files: what it comes to, and where its values stand."""

import json
from pathlib import Path

import pytest

from engine.config import json_schema
from engine.config.include import rebase
from engine.config.joined_document import JoinedDocument
from engine.offline.check.audit import audit
from engine.plan.assembly.make_plan import make_plan
from engine.source.problem import Level, place_of
from tests.support import paths
from tests.support.peer import identity

SHOP = (paths.CASES / "configs/openapi/shop.yaml").read_text("utf-8")
MAIN = """\
version: 1
include: [parts/*.yaml]
specs: {shop: {document: shop.yaml}}
upstreams: {main: {url: "https://a.example.com/v1"}}
routes:
  - {operation: shop.chat, to: [{upstream: main}]}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "shop.yaml", SHOP)
    write(tmp_path, "gateway.yaml", MAIN)
    return tmp_path


def write(folder, name, text):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, "utf-8")


def plan_here(**environ):
    return make_plan(Path("gateway.yaml"), environ)


def places(planned, *levels):
    expected_levels = levels or (Level.ERROR, Level.WARNING)
    return [
        (f"{p.file}:{p.line}:{p.column}", p.code)
        for p in planned.problems
        if p.level in expected_levels
    ]


def test_lists_are_appended_and_mappings_joined_in_the_order_of_the_names(folder):
    write(folder, "parts/b.yaml", "routes: [{operation: shop.getItem, to: [{upstream: two}]}]\n")
    write(
        folder,
        "parts/a.yaml",
        "upstreams: {two: {url: https://b.example.com}}\n"
        "routes: [{operation: shop.listItems, to: [{upstream: two}]}]\n",
    )
    planned = plan_here()
    assert places(planned) == []
    config = planned.plan.config
    assert list(config.upstreams) == ["main", "two"]
    operations = [name for route in config.routes for name, _ in route.operations]
    assert operations == ["shop.chat", "shop.listItems", "shop.getItem"]


def test_a_problem_in_an_included_file_has_its_place_there_and_shows_that_line(folder):
    write(
        folder,
        "parts/a.yaml",
        "# one\nroutes:\n  - {operation: shop.getItem, to: "
        "[{upstream: mian}]}\nmodels:\n  m: {to: [{upstream: main, wieght: 1}]}\n",
    )
    planned = plan_here()
    assert places(planned) == [("parts/a.yaml:3:47", "MW313"), ("parts/a.yaml:5:29", "MW101")]
    assert "mian" in planned.texts["parts/a.yaml"]


def test_a_name_in_two_files_names_both_places(folder):
    write(folder, "parts/a.yaml", "\nupstreams:\n  main: {url: https://b.example.com}\n")
    (problem,) = plan_here().findings.errors
    assert (problem.file, problem.line, problem.column) == ("parts/a.yaml", 3, 3)
    assert "also at gateway.yaml:4:13" in problem.message


def test_a_name_in_two_included_files_names_both(folder):
    for name in "ab":
        write(folder, f"parts/{name}.yaml", "models: {m: {to: [{upstream: main}]}}\n")
    (problem,) = plan_here().findings.errors
    assert (problem.file, problem.code) == ("parts/b.yaml", "MW109")
    assert "parts/a.yaml:1:10" in problem.message


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("include: [c.yaml]\n", "MW110"),
        ("version: 2\n", "MW109"),
        ("routes: {}\n", "MW109"),
        ("- a\n", "MW103"),
        ("a: [\n", "MW001"),
        ("zebra: 1\n", "MW101"),
        ("server: 5\n", "MW103"),
        ("routes: [5]\n", "MW103"),
    ],
)
def test_a_problem_of_an_included_file_is_noted_once_in_that_file(folder, text, code):
    write(folder, "parts/a.yaml", text)
    assert [(p.file, p.code) for p in plan_here().findings.errors] == [("parts/a.yaml", code)]


def test_a_file_that_cannot_be_read_brings_no_errors_about_names_it_may_hold(folder):
    write(folder, "parts/a.yaml", "upstreams: {two: {url: [}}\n")
    text = MAIN.replace("upstream: main", "upstream: two")
    write(folder, "gateway.yaml", text)
    assert [p.code for p in plan_here().findings.errors] == ["MW001"]


@pytest.mark.parametrize("text", ["version: 1\n", "", "# nothing\n", "tokens:\n", "routes: []\n"])
def test_a_file_may_repeat_the_version_or_say_nothing(folder, text):
    write(folder, "parts/a.yaml", text)
    assert places(plan_here()) == []


def test_a_section_may_begin_in_one_included_file_and_go_on_in_another(folder):
    for name in "ab":
        write(folder, f"parts/{name}.yaml", f"models:\n  {name}: {{to: [{{upstream: mian}}]}}\n")
    assert places(plan_here()) == [("parts/a.yaml:2:23", "MW313"), ("parts/b.yaml:2:23", "MW313")]


def test_paths_start_at_the_folder_of_their_own_file(folder):
    write(folder, "parts/openapi/more.yaml", SHOP.replace("url: /v1", "url: /v2"))
    write(folder, "parts/ca.pem", identity().decode())
    write(
        folder,
        "parts/a.yaml",
        "specs: {more: {document: openapi/more.yaml}, up: {document: ../shop.yaml, mount: /x}}\n"
        "upstreams: {two: {url: https://b.example.com, tls: {ca: ca.pem}}}\n"
        "models: {m: {to: [{upstream: two}]}}\n"
        "stores: {records: sqlite:///db.sqlite, journal: journal}\n",
    )
    planned = plan_here()
    assert places(planned) == []
    config = planned.plan.config
    assert config.specs["up"].document == "shop.yaml"
    assert Path(config.upstreams["two"].tls.ca) == folder / "parts/ca.pem"
    assert config.stores.records == f"sqlite:///{folder}/parts/db.sqlite"
    assert config.stores.journal == folder / "parts/journal"


def test_a_missing_document_of_an_included_file_is_placed_there(folder):
    write(folder, "parts/a.yaml", "specs:\n  more: {document: none.yaml}\n")
    assert places(plan_here(), Level.ERROR) == [("parts/a.yaml:2:20", "MW106")]


def test_a_path_behind_a_link_is_not_shortened(folder):
    write(folder, "real/deep/shop.yaml", SHOP)
    (folder / "real/deep/in").mkdir()
    (folder / "parts").symlink_to(folder / "real/deep/in")
    write(folder, "parts/a.yaml", "specs: {up: {document: ../shop.yaml, mount: /x}}\n")
    planned = plan_here()
    assert places(planned) == []
    assert planned.plan.config.specs["up"].document == "parts/../shop.yaml"


def test_secrets_of_an_included_file_are_filled_in_from_its_folder_and_never_shown(folder):
    write(folder, "parts/key", "sk-from-a-file\n")
    write(
        folder,
        "parts/a.yaml",
        "upstreams: {two: {url: https://b.example.com, dialect: '${file:key}'}}\n"
        "models: {m: {to: [{upstream: '${NAME}'}]}}\n",
    )
    planned = plan_here(NAME="sk-from-outside")
    assert [p.code for p in planned.findings.errors] == ["MW311", "MW313"]
    assert not [p for p in planned.problems if "sk-from" in p.message + p.hint]


@pytest.mark.parametrize(
    ("include", "place", "code", "level"),
    [
        ("[nothing.yaml]", "gateway.yaml:2:11", "MW108", Level.ERROR),
        ("[no/such/*.yaml]", "gateway.yaml:2:11", "MW111", Level.WARNING),
        ("[parts]", "gateway.yaml:2:11", "MW108", Level.ERROR),
        ("nothing.yaml", "gateway.yaml:2:10", "MW103", Level.ERROR),
        ("[]", "gateway.yaml:2:10", "MW104", Level.ERROR),
        ("[5]", "gateway.yaml:2:11", "MW103", Level.ERROR),
        ("['']", "gateway.yaml:2:11", "MW104", Level.ERROR),
    ],
)
def test_an_include_that_cannot_be_read_is_noted_at_its_place(folder, include, place, code, level):
    (folder / "parts").mkdir()
    write(folder, "gateway.yaml", MAIN.replace("[parts/*.yaml]", include))
    assert places(plan_here(), level) == [(place, code)]


def test_a_mistyped_file_is_met_with_the_right_name(folder):
    write(folder, "parts/models.yaml", "")
    write(folder, "gateway.yaml", MAIN.replace("parts/*.yaml", "parts/modles.yaml"))
    assert plan_here().findings.errors[0].hint == "did you mean 'models.yaml'?"


def test_a_file_is_read_once_and_gateway_yaml_never_includes_itself(folder):
    write(folder, "parts/a.yaml", "models: {m: {to: [{upstream: main}]}}\n")
    text = MAIN.replace(
        "[parts/*.yaml]", "['parts/*.yaml', parts/a.yaml, '**/a.yaml', 'gate*.yaml']"
    )
    write(folder, "gateway.yaml", text)
    assert places(plan_here()) == []


def test_the_source_has_the_files_and_the_part_of_each_value(folder):
    write(folder, "parts/a.yaml", "server: {workers: 3}\nmodels: {m: {to: [{upstream: main}]}}\n")
    source = plan_here().plan.config.source
    assert isinstance(source, JoinedDocument)
    assert [file.file for file in source.files] == ["gateway.yaml", "parts/a.yaml"]
    marked, at = source.part(("models", "m", "to", 0))
    assert (marked.file, at) == ("parts/a.yaml", ("models", "m", "to", 0))
    assert source.part(("routes", 0))[0].file == "gateway.yaml"
    assert source.place(("server", "workers")) == (1, 19)
    assert place_of(source, ("server", "workers")) == ("parts/a.yaml", 1, 19)
    assert place_of(source, ("routes", 0, "to"), key=True) == ("gateway.yaml", 6, 28)


def test_the_audit_finds_and_places_what_is_unwise_in_an_included_file(folder):
    write(
        folder,
        "parts/a.yaml",
        "\nupstreams: {two: {url: 'http://b.example.com', credential: "
        "{bearer: sk-written-out}}}\nmodels: {m: {to: [{upstream: two}]}}\n",
    )
    planned = plan_here()
    audit(planned, {})
    problems = places(planned)
    assert ("parts/a.yaml:2:24", "MW401") in problems
    assert ("parts/a.yaml:2:69", "MW402") in problems
    assert "sk-written-out" not in "".join(planned.texts.values())


@pytest.mark.parametrize("odd", [None, 5, "x", [], [None], {}, {"a": None}, {"a": {"document": 5}}])
@pytest.mark.parametrize("section", ["specs", "upstreams", "stores"])
def test_paths_in_values_of_another_shape_are_left_alone(section, odd, tmp_path):
    value = {section: odd}
    rebase(value, "parts", tmp_path)
    assert value == {section: odd}


@pytest.mark.parametrize("path", ["/etc/x.yaml", "postgresql+psycopg://u@h/d", "sqlite:////abs.db"])
def test_a_value_that_is_no_relative_path_is_unchanged(path, tmp_path):
    value = {"stores": {"records": path}}
    rebase(value, "parts", tmp_path)
    assert value["stores"]["records"] == path


ODD = [None, 1, -1, 1.5, True, "", "x", "*", [], [None], [[]], {}, {"x": None}, {"x": {}}, [{}]]


@pytest.mark.parametrize("section", [*json_schema.schema()["properties"], "zebra"])
def test_whatever_an_included_file_says_is_planned_or_refused_at_a_place_that_there_is(
    folder, section
):
    for odd in ODD:
        write(folder, "parts/a.yaml", json.dumps({section: odd}))
        write(folder, "parts/b.yaml", json.dumps({section: [odd], "models": odd}))
        planned = plan_here()
        assert (planned.plan is None) == bool(planned.findings.errors)
        for problem in planned.problems:
            assert (
                problem.line <= len(planned.texts[problem.file].splitlines()) or problem.line == 1
            )
        audit(planned, {})


def test_a_file_that_includes_itself_by_another_path_is_an_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts").mkdir()
    (tmp_path / "gateway.yaml").write_text("version: 1\ninclude: [parts/../gateway.yaml]\n")
    problems = [p for p in make_plan(Path("gateway.yaml"), {}).problems if p.code == "MW110"]
    assert [(p.line, p.column, p.message) for p in problems] == [
        (2, 11, "the file includes itself")
    ]


def test_a_pattern_that_takes_in_the_file_itself_leaves_it_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gateway.yaml").write_text('version: 1\ninclude: ["*.yaml"]\n')
    problems = {p.code for p in make_plan(Path("gateway.yaml"), {}).problems}
    assert not problems & {"MW108", "MW109", "MW110"}


def test_files_that_include_each_other_are_an_error_at_the_second(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gateway.yaml").write_text("version: 1\ninclude: [part.yaml]\n")
    (tmp_path / "part.yaml").write_text("include: [gateway.yaml]\n")
    problems = [p for p in make_plan(Path("gateway.yaml"), {}).problems if p.code == "MW110"]
    assert [(p.file, p.line) for p in problems] == [("part.yaml", 1)]
