"""`modelway check`: files, standard input, formats, strictness, manuals, and how it exits."""

import io
import json
import re
import shlex

import pytest
import yaml
from click.testing import CliRunner

from engine import cli
from engine.cli import check, formats
from engine.cli.formats import Report
from engine.source.problem import Level, Problem
from tests.support.paths import ROOT

DOCUMENT = """
openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /items: {get: {operationId: list, responses: {"200": {description: ok}}}}
  /more: {get: {operationId: more, responses: {"200": {description: ok}}}}
"""
GOOD = """version: 1
specs: {shop: {document: shop.yaml, mount: /v1}}
upstreams: {main: {url: "http://127.0.0.1:9"}}
routes: [{operations: shop.*, to: [{upstream: main}]}]
"""
BAD = GOOD.replace("main}]", "main}, {upstream: mian}]")
UNWISE = GOOD.replace("127.0.0.1:9", "shop.internal")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("MODELWAY_CONFIG", "NO_COLOR", "GUNICORN_CMD_ARGS"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "shop.yaml").write_text(DOCUMENT)
    for name, text in (("gateway", GOOD), ("bad", BAD), ("unwise", UNWISE)):
        (tmp_path / f"{name}.yaml").write_text(text)
    return tmp_path


def run(*args, **more):
    return CliRunner().invoke(cli.main, ["check", *args], **more)


def test_a_problem_is_printed_with_its_lines_and_a_mark(folder):
    assert run("bad.yaml").stdout.splitlines() == [
        "bad.yaml:4:65: error: unknown upstream 'mian' [MW313]",
        '  3 | upstreams: {main: {url: "http://127.0.0.1:9"}}',
        "  4 | routes: [{operations: shop.*, to: [{upstream: main}, {upstream: mian}]}]",
        "    |" + " " * 65 + "^~~~",
        "  hint: did you mean 'main'?",
        "bad.yaml: 1 error",
    ]


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["gateway.yaml"], 0),
        (["unwise.yaml"], 0),
        (["--strict", "unwise.yaml"], 1),
        (["--strict", "gateway.yaml"], 0),
        (["bad.yaml"], 1),
        (["gateway.yaml", "unwise.yaml"], 0),
        (["gateway.yaml", "bad.yaml"], 1),
        (["-c", "bad.yaml", "gateway.yaml"], 1),
        (["-c", "unwise.yaml", "--strict"], 1),
        (["nothing.yaml"], 2),
        (["."], 2),
        (["--format", "xml"], 2),
        (["--explain"], 2),
        (["--explain", "MW999"], 2),
    ],
)
@pytest.mark.parametrize("form", [None, *formats.names()])
def test_the_exit_status_is_the_same_in_every_format(folder, args, code, form):
    args = args if form is None or "--format" in args else ["--format", form, *args]
    assert run(*args).exit_code == code


def test_strict_fails_for_warnings_but_not_for_infos(folder):
    (folder / "gateway.yaml").write_text(GOOD.replace("shop.*", "shop.list"))
    result = run("--strict")
    assert (result.exit_code, "1 info" in result.stdout) == (0, True)


def test_several_files_have_a_line_each_and_a_total(folder):
    lines = run("gateway.yaml", "bad.yaml", "unwise.yaml").stdout.splitlines()
    assert lines[-4:] == [
        "gateway.yaml: no problems",
        "bad.yaml: 1 error",
        "unwise.yaml: 1 warning",
        "3 files: 1 error, 1 warning",
    ]


def test_files_replace_the_default_config_but_not_the_option(folder):
    (folder / "gateway.yaml").unlink()
    assert run("unwise.yaml").exit_code == 0
    assert run("unwise.yaml", env={"MODELWAY_CONFIG": "none.yaml"}).exit_code == 0
    assert "bad.yaml: 1 error" in run("-c", "bad.yaml", "unwise.yaml").stdout


def test_a_problem_of_a_shared_document_is_printed_once(folder):
    (folder / "shop.yaml").write_text(DOCUMENT.replace(', version: "1"', ""))
    result = run("gateway.yaml", "unwise.yaml", "gateway.yaml")
    assert result.stdout.count("[MW220]") == 1
    assert result.stdout.splitlines()[-1] == "2 files: 2 warnings"


def test_standard_input_is_a_config_in_the_working_directory(folder):
    result = run("-", input=BAD)
    assert result.exit_code == 1
    assert result.stdout.startswith("<stdin>:4:65: error: unknown upstream 'mian' [MW313]\n")
    assert run("-", input=GOOD).stdout == "<stdin>: no problems\n"
    assert run("-", input="\ufeff" + GOOD).exit_code == 0


def test_standard_input_that_is_not_utf8_is_a_problem(folder):
    result = run("-", input=b"\xff\xfe\x00")
    assert result.exit_code == 1
    assert result.stdout.startswith("<stdin>: error: not UTF-8 text (byte 0) [MW002]\n")


def test_includes_of_standard_input_are_relative_to_the_working_directory(folder):
    (folder / "more.yaml").write_text("zebra: 1\n")
    assert (
        "more.yaml:1:1: error: unknown key" in run("-", input=GOOD + "include: [more.yaml]").stdout
    )


def test_a_comment_silences_a_warning_and_an_unused_one_is_a_warning(folder):
    line = '"http://shop.internal"}}'
    (folder / "gateway.yaml").write_text(UNWISE.replace(line, line + " # modelway: ignore MW401 x"))
    assert run("--strict").stdout == "gateway.yaml: no problems\n"
    (folder / "gateway.yaml").write_text(GOOD + "# modelway: ignore MW401\n")
    assert "gateway.yaml:5:20: warning: there is no warning MW401" in run().stdout


def test_a_comment_in_a_document_works_as_in_the_config(folder):
    (folder / "gateway.yaml").write_text(GOOD.replace("shop.*", "shop.list"))
    (place,) = re.findall(r"^shop.yaml:(\d+):\d+: info: .* \[MW306\]$", run().stdout, re.MULTILINE)
    lines = DOCUMENT.splitlines()
    lines[int(place) - 1] += "   # modelway: ignore MW306 not yet"
    (folder / "shop.yaml").write_text("\n".join(lines))
    assert run().stdout == "gateway.yaml: no problems\n"


def test_with_errors_no_ignore_is_reported_as_unused(folder):
    (folder / "bad.yaml").write_text(BAD + "# modelway: ignore MW401\n")
    assert "MW413" not in run("bad.yaml").stdout


def test_an_ignore_in_a_shared_document_is_used_if_one_config_needs_it(folder):
    (folder / "a.yaml").write_text(GOOD + "include: [up.yaml]\n")
    text = GOOD.replace('upstreams: {main: {url: "http://127.0.0.1:9"}}', "include: [up.yaml]")
    (folder / "a.yaml").write_text(text)
    (folder / "b.yaml").write_text(text)
    up = 'upstreams: {main: {url: "http://shop.internal"}}   # modelway: ignore MW401 inside\n'
    (folder / "up.yaml").write_text(up)
    assert run("--strict", "a.yaml", "b.yaml").exit_code == 0


def test_json_has_every_problem_and_the_totals(folder):
    said = json.loads(run("--format", "json", "bad.yaml", "unwise.yaml").stdout)
    assert said["ok"] is False
    assert said["summary"] == {"error": 1, "warning": 1, "info": 0}
    assert said["files"] == [
        {"file": "bad.yaml", "error": 1, "warning": 0, "info": 0},
        {"file": "unwise.yaml", "error": 0, "warning": 1, "info": 0},
    ]
    assert said["problems"][0] == {
        "code": "MW313",
        "level": "error",
        "file": "bad.yaml",
        "line": 4,
        "column": 65,
        "message": "unknown upstream 'mian'",
        "hint": "did you mean 'main'?",
    }


def test_json_of_a_problem_of_a_whole_file_has_no_line(folder):
    said = json.loads(run("--format", "json", "-", input=b"\xff").stdout)
    assert (said["problems"][0]["line"], said["problems"][0]["hint"]) == (None, None)


def report(*problems, colour=False):
    return Report({"f.yaml": list(problems)}, list(problems), {}, True, colour)


def test_github_gets_a_command_for_each_problem(folder):
    assert run("--format", "github", "bad.yaml").stdout.splitlines() == [
        "::error file=bad.yaml,line=4,col=65,title=MW313::unknown upstream 'mian'%0A"
        "did you mean 'main'?",
        "bad.yaml: 1 error",
    ]


@pytest.mark.parametrize(
    ("level", "command"), [("error", "error"), ("warning", "warning"), ("info", "notice")]
)
def test_github_knows_a_command_for_every_level(level, command):
    problem = Problem("f.yaml", 0, 0, Level(level), "MW101", "m")
    first = formats.render("github", report(problem)).splitlines()[0]
    assert first == f"::{command} file=f.yaml,title=MW101::m"


def test_a_problem_cannot_inject_a_workflow_command():
    problem = Problem(
        "a,b:c%\n::error::x", 1, 1, Level.ERROR, "MW101", "x\r\n::error::100%", "\n::h"
    )
    said = formats.render("github", report(problem))
    assert said.splitlines()[0] == (
        "::error file=a%2Cb%3Ac%25%0A%3A%3Aerror%3A%3Ax,line=1,col=1,title=MW101"
        "::x␍␊::error::100%25%0A␊::h"
    )
    assert [line for line in said.splitlines() if line.startswith("::")] == [said.splitlines()[0]]


def sarif(*problems):
    return json.loads(formats.render("sarif", report(*problems)))


def test_sarif_is_valid_and_complete(folder):
    said = json.loads(run("--format", "sarif", "bad.yaml", "unwise.yaml").stdout)
    assert said["version"] == "2.1.0"
    (one,) = said["runs"]
    driver = one["tool"]["driver"]
    assert driver["name"] == "modelway"
    assert [rule["id"] for rule in driver["rules"]] == ["MW313", "MW401"]
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"]
        assert rule["help"]["markdown"].startswith(f"# {rule['id']}: ")
    assert [r["level"] for r in one["results"]] == ["error", "warning"]
    for result in one["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
    place = one["results"][0]["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "bad.yaml"},
        "region": {"startLine": 4, "startColumn": 65},
    }


def test_sarif_without_problems_is_a_run_without_results():
    (one,) = sarif()["runs"]
    assert (one["results"], one["tool"]["driver"]["rules"]) == ([], [])


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("a b/é.yaml", "a%20b/%C3%A9.yaml"),
        ("{cwd}/x/y.yaml", "x/y.yaml"),
        ("/elsewhere/y.yaml", "file:///elsewhere/y.yaml"),
        ("<stdin>", "%3Cstdin%3E"),
    ],
)
def test_sarif_names_files_as_uris_from_the_working_directory(folder, file, uri):
    problem = Problem(file.format(cwd=folder), 0, 0, Level.INFO, "MW999", "m")
    (result,) = sarif(problem)["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": uri}}
    assert result["level"] == "note"


def test_only_terminals_get_colours(folder):
    problem = Problem("f.yaml", 0, 0, Level.ERROR, "MW101", "m", "h")
    assert "\x1b[31m" in formats.render("text", report(problem, colour=True))
    assert "\x1b" not in formats.render("text", report(problem))
    assert "\x1b" not in run("bad.yaml").output
    plain = re.sub(r"\x1b\[[0-9;]*m", "", formats.render("text", report(problem, colour=True)))
    assert plain == formats.render("text", report(problem))


@pytest.mark.parametrize(
    ("terminal", "environ", "coloured"),
    [
        (True, {"TERM": "xterm"}, True),
        (True, {"TERM": "xterm", "NO_COLOR": ""}, True),
        (True, {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (False, {"TERM": "xterm"}, False),
    ],
)
def test_a_terminal_has_colours_unless_they_are_switched_off(
    folder, monkeypatch, terminal, environ, coloured
):
    output = io.StringIO()
    monkeypatch.setattr(output, "isatty", lambda: terminal, raising=False)
    monkeypatch.setattr("sys.stdout", output)
    for name in ("TERM", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert check.has_colour() is coloured


def test_control_characters_are_not_printed(folder):
    (folder / "shop.yaml").write_text(DOCUMENT.replace("ok", "\\x1b[2J"))
    (folder / "bad.yaml").write_text(BAD.replace("mian", '"\\e[2J"'))
    for form in formats.names():
        assert "\x1b" not in run("bad.yaml", "--format", form).output


@pytest.mark.parametrize("code", ["MW101", "mw101"])
def test_explain_prints_the_manual_of_a_code(folder, code):
    result = run("--explain", code)
    assert result.exit_code == 0
    assert result.stdout.startswith("# MW101: ")
    assert "## Wrong" in result.stdout


def test_explain_of_an_unknown_code_suggests_a_near_one(folder):
    assert "did you mean 'MW" in run("--explain", "MW10").stderr


def test_a_secret_beside_a_problem_is_not_printed(folder):
    text = BAD.replace('9"}}', '9", credential: {bearer: sk-written-here}}}')
    (folder / "bad.yaml").write_text(text)
    for form in formats.names():
        assert "sk-written" not in run("bad.yaml", "--format", form).output


def hooks():
    return yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))


def commands():
    """What the hook and the workflow run."""
    workflow = (ROOT / "deploy/github-actions.yml").read_text("utf-8")
    said = re.findall(r"run: modelway (check[^>|\n]*)", workflow)
    return said + [hook["entry"].removeprefix("modelway ") for hook in hooks()]


@pytest.mark.parametrize("command", commands())
def test_the_command_of_the_hook_and_the_workflow_passes_and_fails(folder, command):
    _, *args = shlex.split(command)
    assert run(*args).exit_code == 0
    (folder / "gateway.yaml").write_text(BAD)
    assert run(*args).exit_code == 1


def test_the_hook_is_valid_for_pre_commit():
    (hook,) = hooks()
    assert {"id", "name", "entry", "language"} <= set(hook)


def test_the_hook_runs_for_every_changed_or_deleted_file_of_a_config():
    (hook,) = hooks()
    assert (hook["always_run"], hook["pass_filenames"]) == (True, False)
    assert not {"files", "types", "types_or", "exclude"} & set(hook)


def test_quiet_prints_nothing_without_problems(folder):
    (folder / "gateway.yaml").write_text(GOOD.replace("shop.*", "shop.list"))
    assert "[MW306]" in run().stdout
    for form in ("text", "github"):
        assert run("-q", "--format", form).output == ""
        assert run("-q", "--format", form, "gateway.yaml", "gateway.yaml").output == ""


def test_quiet_prints_only_files_with_warnings(folder):
    shown = run("-q", "gateway.yaml", "unwise.yaml").stdout
    assert "[MW401]" in shown
    assert "no problems" not in shown
    assert run("-q", "unwise.yaml", "--format", "json").stdout.startswith("{")


def test_operations_without_a_route_are_one_info_of_their_document(folder):
    (folder / "gateway.yaml").write_text(GOOD.replace("shop.*", "shop.list"))
    many = "".join(f"  /p{n}: {{get: {{operationId: op{n}}}}}\n" for n in range(20))
    (folder / "shop.yaml").write_text(DOCUMENT.rstrip() + "\n" + many)
    (line,) = [line for line in run().stdout.splitlines() if "[MW306]" in line]
    named = ", ".join(["shop.more", *(f"shop.op{n}" for n in range(7))])
    assert line == (
        f"shop.yaml:4:1: info: no route serves 21 of 22 operations: {named}, ... [MW306]"
    )


AMBIGUOUS = """
openapi: 3.0.3
info: {title: Shop, version: "1"}
paths:
  /items:
    post:
      operationId: put
      requestBody:
        content:
          application/json:
            schema: {properties: {name: {$ref: "#/components/schemas/Name", maxLength: 3}}}
            example: {name: green tea}
      responses: {"200": {description: ok}}
components: {schemas: {Name: {type: string}}}
"""


def test_an_example_that_openapi_core_reads_differently_is_a_warning(folder):
    (folder / "shop.yaml").write_text(AMBIGUOUS)
    ran = run("--strict", "gateway.yaml")
    assert (ran.exit_code, "[MW421]" in ran.stdout) == (1, True)


def test_the_second_opinion_can_be_switched_off(folder):
    (folder / "shop.yaml").write_text(AMBIGUOUS)
    ran = run("--strict", "--no-second-opinion", "gateway.yaml")
    assert (ran.exit_code, "[MW421]" in ran.stdout) == (0, False)
