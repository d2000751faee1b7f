"""Overlays: what a config comes to, where its values stand, and what is wrong in an overlay."""

from pathlib import Path

import pytest

from engine.config.include import join_includes
from engine.config.joined_document import TAGS
from engine.config.overlays import apply_overlays, refuse_tags
from engine.config.references import expander
from engine.plan.assembly.make_plan import make_plan
from engine.source.problem import Findings, place_of
from engine.source.reader import read_file
from tests.support import paths, yaml_text
from tests.support.each import each

CASES = sorted((paths.CASES / "overlays").glob("*.yaml"))
SHOP = (paths.CASES / "configs/openapi/shop.yaml").read_text("utf-8")
BASE = """\
version: 1
specs: {shop: {document: shop.yaml}}
upstreams: {main: {url: "https://a.example.com/v1"}}
routes:
  - {operation: shop.chat, to: [{upstream: main}]}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("shop.yaml", SHOP)
    write("gateway.yaml", BASE)
    return tmp_path


def write(name, text):
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text, "utf-8")


def join(*names):
    """The joined document of files in the working directory, and the problems."""
    findings = Findings()
    first = read_file(Path(names[0]), names[0], expander({}, Path.cwd()), TAGS)
    findings.add_source(first)
    base, _ = join_includes(first, Path.cwd(), {}, findings)
    refuse_tags(base, findings)
    apply_overlays(base, [Path(name) for name in names[1:]], Path.cwd(), {}, findings)
    return base, findings


def plan_here(*overlays):
    return make_plan(Path("gateway.yaml"), {}, overlays=[Path(name) for name in overlays])


def lines(findings):
    return [
        f"{p.file}:{p.line}:{p.column} {p.code} {p.message}" + (f" | {p.hint}" if p.hint else "")
        for p in findings.problems
    ]


def steps(pointer):
    return tuple(int(s) if s.isdigit() else s for s in pointer.split("/")[1:])


@each("case", CASES, ids=lambda path: path.stem)
def test_an_overlay_changes_a_base(folder, case):
    content = yaml_text.load(case.read_text("utf-8"))
    write("base.yaml", content["base"])
    write("overlay.yaml", content["overlay"])
    joined, findings = join("base.yaml", "overlay.yaml")
    expected = content.get("problems", [])
    assert [
        line if " | " in want else line.partition(" | ")[0]
        for line, want in zip(lines(findings), expected, strict=True)
    ] == expected
    if "value" in content:
        assert joined.value == content["value"]
        places = {p: str(place_of(joined, steps(p))) for p in content["places"]}
        assert places == content["places"]


def test_each_overlay_changes_the_result_of_those_before_it(folder):
    write("a.yaml", "server: {workers: 1}\n")
    write("b.yaml", "server: {workers: 2, grace: 5s}\n")
    write("c.yaml", "server: {workers: !remove }\n")
    joined, findings = join("a.yaml", "b.yaml", "c.yaml")
    assert (joined.value, findings.problems) == ({"server": {"grace": "5s"}}, [])


def test_a_problem_names_the_line_of_the_overlay_and_shows_it(folder):
    write("prod.yaml", "\nupstreams:\n  main:\n    timeouts: many\n")
    planned = plan_here("prod.yaml")
    (problem,) = planned.findings.errors
    assert (problem.file, problem.line, problem.column) == ("prod.yaml", 4, 15)
    assert "timeouts: many" in planned.texts["prod.yaml"]


def test_a_name_that_an_overlay_takes_out_is_missed_where_it_is_used(folder):
    write("prod.yaml", "upstreams: {main: !remove , other: {url: https://b.example.com}}\n")
    (problem,) = plan_here("prod.yaml").findings.errors
    assert (problem.file, problem.line, problem.code) == ("gateway.yaml", 5, "MW313")


@each("overlays", [["gateway.yaml"], ["./gateway.yaml"], ["prod.yaml", "prod.yaml"]], ids=" ".join)
def test_a_file_that_is_named_twice_is_an_error(folder, overlays):
    write("prod.yaml", "server: {workers: 2}\n")
    (problem,) = plan_here(*overlays).findings.errors
    assert (problem.line, problem.code) == (0, "MW112")
    assert "named twice" in problem.message


def test_an_overlay_that_is_not_there_is_an_error(folder):
    planned = plan_here("prod.yaml")
    assert [(p.file, p.code) for p in planned.findings.errors] == [("prod.yaml", "MW002")]


def test_an_overlay_that_cannot_be_read_brings_no_errors_about_names_it_may_hold(folder):
    write("gateway.yaml", BASE.replace("upstream: main", "upstream: two"))
    write("prod.yaml", "upstreams: {two: {url: [}}\n")
    planned = plan_here("prod.yaml")
    assert [(p.file, p.code) for p in planned.findings.errors] == [("prod.yaml", "MW001")]


def test_paths_in_an_overlay_start_at_its_own_folder(folder):
    write("environments/prod/other.yaml", SHOP)
    write("environments/key.txt", "secret")
    write(
        "environments/prod/overlay.yaml",
        "specs: {shop: {document: other.yaml}}\n"
        "upstreams: {main: {credential: {bearer: '${file:../key.txt}'}}}\n"
        "stores: {journal: journal}\n",
    )
    planned = plan_here("environments/prod/overlay.yaml")
    assert planned.findings.errors == []
    config = planned.plan.config
    assert config.specs["shop"].document == "environments/prod/other.yaml"
    assert config.stores.journal == folder / "environments/prod/journal"


def test_paths_in_an_overlay_behind_a_link_start_at_the_folder_behind_it(folder, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "other.yaml").write_text(SHOP)
    (elsewhere / "prod.yaml").write_text("specs: {shop: {document: other.yaml}}\n")
    (folder / "deep").mkdir()
    (folder / "deep/link").symlink_to(elsewhere)
    planned = plan_here("deep/link/prod.yaml")
    assert planned.findings.errors == []


def test_an_overlay_may_include_files_which_belong_to_it(folder):
    write("prod/overlay.yaml", "include: [parts/*.yaml]\nserver: {workers: 2}\n")
    write("prod/parts/a.yaml", "upstreams: {two: {url: https://b.example.com, dialect: 1}}\n")
    planned = plan_here("prod/overlay.yaml")
    places = [(p.file, p.line, p.column) for p in planned.findings.errors]
    assert places == [("prod/parts/a.yaml", 1, 56)]


def test_a_tag_in_an_included_file_is_an_error(folder):
    write("prod.yaml", "include: [part.yaml]\n")
    write("part.yaml", "upstreams: {two: !replace {url: https://b.example.com}}\n")
    (problem,) = plan_here("prod.yaml").findings.errors
    assert (problem.file, problem.code) == ("part.yaml", "MW112")


def test_a_secret_of_an_overlay_is_hidden_in_its_lines(folder):
    write("prod.yaml", "upstreams: {main: {dialect: 1, credential: {bearer: s3cret-value}}}\n")
    planned = plan_here("prod.yaml")
    assert "s3cret-value" not in planned.texts["prod.yaml"]


def test_every_file_is_recorded_for_reloads(folder):
    write("prod.yaml", "include: [part.yaml]\n")
    write("part.yaml", "server: {workers: 2}\n")
    names = {path.name for path in plan_here("prod.yaml").files}
    assert {"gateway.yaml", "prod.yaml", "part.yaml", "shop.yaml"} <= names
