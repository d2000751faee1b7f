"""`modelway check`: files, standard input, formats, strictness, manuals, and how it exits."""

import json
import re
import shlex

import pytest

from engine.cli import check_formats
from engine.source import files
from tests.support import yaml_text
from tests.support.commands import BAD, DOCUMENT, GOOD, UNWISE, modelway
from tests.support.paths import ROOT
from tests.support.translating import translating


def test_a_problem_is_printed_with_its_lines_and_a_mark(folder):
    assert modelway("check", "bad.yaml").stdout.splitlines() == [
        "bad.yaml:4:65: error: unknown upstream 'mian' [MW313]",
        '  3 | upstreams: {main: {url: "http://127.0.0.1:9"}}',
        "  4 | routes: [{operations: shop.*, to: [{upstream: main}, {upstream: mian}]}]",
        "    |" + " " * 65 + "^~~~",
        "  hint: did you mean 'main'?",
        "bad.yaml: 1 error",
        "next: correct the error, then check again; "
        "`modelway check --explain MW313` explains the first",
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
@pytest.mark.parametrize("form", [None, *check_formats.names()])
def test_the_exit_status_is_the_same_in_every_format(folder, args, code, form):
    args = args if form is None or "--format" in args else ["--format", form, *args]
    assert modelway("check", *args).exit_code == code


def test_strict_fails_for_warnings_but_not_for_infos(folder):
    (folder / "gateway.yaml").write_text(GOOD.replace("shop.*", "shop.list"))
    result = modelway("check", "--strict")
    assert (result.exit_code, "1 info" in result.stdout) == (0, True)


def test_lost_features_of_translations_are_listed_with_verbose(tmp_path):
    translating(tmp_path)
    file = str(tmp_path / "gateway.yaml")
    assert "MW425" not in modelway("check", "--no-second-opinion", file).stdout
    result = modelway("check", "--no-second-opinion", "-v", file)
    assert result.exit_code == 0
    assert "'claude-model' called in chat_completions refuses sampling: " in result.stdout


def test_verbose_of_a_config_with_errors_notes_its_errors(folder):
    result = modelway("check", "-v", "bad.yaml")
    assert (result.exit_code, "[MW313]" in result.stdout) == (1, True)


def test_several_files_have_a_line_each_and_a_total(folder):
    lines = modelway("check", "gateway.yaml", "bad.yaml", "unwise.yaml").stdout.splitlines()
    assert lines[-5:-1] == [
        "gateway.yaml: no problems",
        "bad.yaml: 1 error",
        "unwise.yaml: 1 warning",
        "3 files: 1 error, 1 warning",
    ]


def test_files_replace_the_default_config_but_not_the_option(folder):
    (folder / "gateway.yaml").unlink()
    assert modelway("check", "unwise.yaml").exit_code == 0
    assert modelway("check", "unwise.yaml", env={"MODELWAY_CONFIG": "none.yaml"}).exit_code == 0
    assert "bad.yaml: 1 error" in modelway("check", "-c", "bad.yaml", "unwise.yaml").stdout


def test_a_problem_of_a_shared_document_is_printed_once(folder):
    (folder / "shop.yaml").write_text(DOCUMENT.replace(', version: "1"', ""))
    result = modelway("check", "gateway.yaml", "unwise.yaml", "gateway.yaml")
    assert result.stdout.count("[MW220]") == 1
    assert result.stdout.splitlines()[-2] == "2 files: 2 warnings"


def test_standard_input_is_a_config_in_the_working_directory(folder):
    result = modelway("check", "-", input=BAD)
    assert result.exit_code == 1
    assert result.stdout.startswith("<stdin>:4:65: error: unknown upstream 'mian' [MW313]\n")
    assert modelway("check", "-", input=GOOD).stdout.startswith("<stdin>: no problems\n")
    assert modelway("check", "-", input="\ufeff" + GOOD).exit_code == 0


def test_standard_input_that_is_not_utf8_is_a_problem(folder):
    result = modelway("check", "-", input=b"\xff\xfe\x00")
    assert result.exit_code == 1
    assert result.stdout.startswith("<stdin>: error: not UTF-8 text (byte 0) [MW002]\n")


def test_includes_of_standard_input_are_relative_to_the_working_directory(folder):
    (folder / "more.yaml").write_text("zebra: 1\n")
    assert (
        "more.yaml:1:1: error: unknown key"
        in modelway("check", "-", input=GOOD + "include: [more.yaml]").stdout
    )


def test_a_comment_silences_a_warning_and_an_unused_one_is_a_warning(folder):
    line = '"http://shop.internal"}}'
    (folder / "gateway.yaml").write_text(UNWISE.replace(line, line + " # modelway: ignore MW401 x"))
    assert modelway("check", "--strict").stdout.startswith("gateway.yaml: no problems\n")
    (folder / "gateway.yaml").write_text(GOOD + "# modelway: ignore MW401\n")
    assert "gateway.yaml:5:20: warning: there is no warning MW401" in modelway("check").stdout


def test_a_comment_in_a_document_works_as_in_the_config(folder):
    (folder / "gateway.yaml").write_text(GOOD.replace("shop.*", "shop.list"))
    (place,) = re.findall(
        r"^shop.yaml:(\d+):\d+: info: .* \[MW306\]$", modelway("check").stdout, re.MULTILINE
    )
    lines = DOCUMENT.splitlines()
    lines[int(place) - 1] += "   # modelway: ignore MW306 not yet"
    (folder / "shop.yaml").write_text("\n".join(lines))
    assert modelway("check").stdout.startswith("gateway.yaml: no problems\n")


def test_a_code_of_a_spec_silences_warnings_of_a_document_without_comments(folder):
    schema = {"type": "string", "nullable": True, "enum": ["a"]}
    document = yaml_text.load(DOCUMENT)
    document["openapi"] = "3.0.3"
    document["paths"]["/items"]["get"]["parameters"] = [
        {"name": "kind", "in": "query", "schema": schema}
    ]
    (folder / "shop.json").write_text(json.dumps(document))
    config = GOOD.replace("shop.yaml", "shop.json")
    (folder / "gateway.yaml").write_text(config)
    assert "warning: 'nullable: true' beside" in modelway("check", "--strict").stdout
    ignored = config.replace("shop.json", "shop.json, ignore: [MW240]")
    (folder / "gateway.yaml").write_text(ignored)
    result = modelway("check", "--strict")
    assert (result.exit_code, result.stdout.splitlines()[0]) == (0, "gateway.yaml: no problems")
    (folder / "gateway.yaml").write_text(ignored.replace("MW240", "MW240, MW221"))
    assert "no warning MW221 about the document to ignore [MW413]" in modelway("check").stdout


def test_with_errors_no_ignore_is_reported_as_unused(folder):
    (folder / "bad.yaml").write_text(BAD + "# modelway: ignore MW401\n")
    assert "MW413" not in modelway("check", "bad.yaml").stdout


def test_an_ignore_in_a_shared_document_is_used_if_one_config_needs_it(folder):
    (folder / "a.yaml").write_text(GOOD + "include: [up.yaml]\n")
    text = GOOD.replace('upstreams: {main: {url: "http://127.0.0.1:9"}}', "include: [up.yaml]")
    (folder / "a.yaml").write_text(text)
    (folder / "b.yaml").write_text(text)
    up = 'upstreams: {main: {url: "http://shop.internal"}}   # modelway: ignore MW401 inside\n'
    (folder / "up.yaml").write_text(up)
    assert modelway("check", "--strict", "a.yaml", "b.yaml").exit_code == 0


def test_control_characters_are_not_printed(folder):
    (folder / "shop.yaml").write_text(DOCUMENT.replace("ok", "\\x1b[2J"))
    (folder / "bad.yaml").write_text(BAD.replace("mian", '"\\e[2J"'))
    for form in check_formats.names():
        assert "\x1b" not in modelway("check", "bad.yaml", "--format", form).output


@pytest.mark.parametrize("code", ["MW101", "mw101"])
def test_explain_prints_the_manual_of_a_code(folder, code):
    result = modelway("check", "--explain", code)
    assert result.exit_code == 0
    assert result.stdout.startswith("# MW101: ")
    assert "## Wrong" in result.stdout


def test_explain_of_an_unknown_code_suggests_a_near_one(folder):
    assert "did you mean 'MW" in modelway("check", "--explain", "MW10").stderr


def test_a_secret_beside_a_problem_is_not_printed(folder):
    text = BAD.replace('9"}}', '9", credential: {bearer: sk-written-here}}}')
    (folder / "bad.yaml").write_text(text)
    for form in check_formats.names():
        assert "sk-written" not in modelway("check", "bad.yaml", "--format", form).output


def hooks():
    return yaml_text.load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))


def commands():
    """What the hook and the workflow run."""
    workflow = (ROOT / "deploy/github-actions.yml").read_text("utf-8")
    commands = re.findall(r"run: modelway (check[^>|\n]*)", workflow)
    return [*commands, hooks()[0]["entry"].removeprefix("modelway ")]


@pytest.mark.parametrize("command", commands())
def test_the_command_of_the_hook_and_the_workflow_passes_and_fails(folder, command):
    _, *args = shlex.split(command)
    assert modelway("check", *args).exit_code == 0
    (folder / "gateway.yaml").write_text(BAD)
    assert modelway("check", *args).exit_code == 1


@pytest.mark.parametrize("hook", hooks(), ids=lambda hook: hook["id"])
def test_a_hook_is_valid_for_pre_commit(hook):
    assert {"id", "name", "entry", "language"} <= set(hook)
    assert modelway(*shlex.split(hook["entry"])[1:], "--help").exit_code == 0


@pytest.mark.parametrize("hook", hooks(), ids=lambda hook: hook["id"])
def test_a_hook_runs_for_every_changed_or_deleted_file_of_a_config(hook):
    assert (hook["always_run"], hook["pass_filenames"]) == (True, False)
    assert not {"files", "types", "types_or", "exclude"} & set(hook)


def test_quiet_prints_nothing_without_problems(folder):
    (folder / "gateway.yaml").write_text(GOOD.replace("shop.*", "shop.list"))
    assert "[MW306]" in modelway("check").stdout
    for form in ("text", "github"):
        assert modelway("check", "-q", "--format", form).output == ""
        assert (
            modelway("check", "-q", "--format", form, "gateway.yaml", "gateway.yaml").output == ""
        )


def test_quiet_prints_only_files_with_warnings(folder):
    output = modelway("check", "-q", "gateway.yaml", "unwise.yaml").stdout
    assert "[MW401]" in output
    assert "no problems" not in output
    assert modelway("check", "-q", "unwise.yaml", "--format", "json").stdout.startswith("{")


def test_a_part_that_no_route_reaches_has_no_warnings(folder):
    parameter = r"{name: a, in: query, schema: {type: string, pattern: '\Ax'}}"
    operation = f"  /p: {{get: {{operationId: op, parameters: [{parameter}]}}}}\n"
    (folder / "shop.yaml").write_text(DOCUMENT.rstrip() + "\n" + operation)
    for operations, level in (("shop.list", "info"), ("shop.*", "warning")):
        (folder / "gateway.yaml").write_text(GOOD.replace("shop.*", operations))
        lines = modelway("check", "--no-second-opinion").stdout.splitlines()
        (line,) = [line for line in lines if "[MW252]" in line]
        assert f": {level}: " in line


def test_operations_without_a_route_are_one_info_of_their_document(folder):
    (folder / "gateway.yaml").write_text(GOOD.replace("shop.*", "shop.list"))
    many = "".join(f"  /p{n}: {{get: {{operationId: op{n}}}}}\n" for n in range(20))
    (folder / "shop.yaml").write_text(DOCUMENT.rstrip() + "\n" + many)
    (line,) = [line for line in modelway("check").stdout.splitlines() if "[MW306]" in line]
    names = ", ".join(["shop.more", *(f"shop.op{n}" for n in range(7))])
    assert line == (
        f"shop.yaml:4:1: info: no route serves 21 of 22 operations: {names} and 13 more [MW306]"
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
            schema:
              properties:
                name:
                  $ref: "#/components/schemas/Name"
                  maxLength: 3  # modelway: ignore MW250 another reader counts it
            example: {name: green tea}
      responses: {"200": {description: ok}}
components: {schemas: {Name: {type: string}}}
"""


def test_an_example_that_openapi_core_reads_differently_is_a_warning(folder):
    (folder / "shop.yaml").write_text(AMBIGUOUS)
    ran = modelway("check", "--strict", "gateway.yaml")
    assert (ran.exit_code, "[MW421]" in ran.stdout) == (1, True)


@pytest.mark.parametrize(
    ("words", "ci", "expected"),
    [
        ([], None, False),
        ([], "", False),
        ([], "0", False),
        ([], "false", False),
        ([], "true", True),
        ([], "1", True),
        (["--strict"], None, True),
        (["--second-opinion"], None, True),
        (["--no-second-opinion"], "true", False),
    ],
)
def test_the_second_opinion_is_for_ci_and_on_request(folder, monkeypatch, words, ci, expected):
    (folder / "shop.yaml").write_text(AMBIGUOUS)
    monkeypatch.delenv("CI", raising=False)
    if ci is not None:
        monkeypatch.setenv("CI", ci)
    assert ("[MW421]" in modelway("check", *words, "gateway.yaml").stdout) is expected


def test_the_second_opinion_can_be_switched_off(folder):
    (folder / "shop.yaml").write_text(AMBIGUOUS)
    ran = modelway("check", "--strict", "--no-second-opinion", "gateway.yaml")
    assert (ran.exit_code, "[MW421]" in ran.stdout) == (0, False)


def test_check_prints_every_error_and_exits_with_1(folder):
    text = GOOD.replace("upstream: main", "upstream: mian").replace("version: 1", "version: 2")
    (folder / "gateway.yaml").write_text(text)
    result = modelway("check")
    assert result.exit_code == 1
    assert "gateway.yaml:1:10: error: 'version' must be 1 [MW104]" in result.output
    assert "gateway.yaml:4:47: error: unknown upstream 'mian' [MW313]" in result.output
    assert "hint: did you mean 'main'?" in result.output
    assert "  4 | routes: [{operations" in result.output
    assert "2 errors" in result.output.splitlines()[-2]


def test_check_with_warnings_exits_with_0(folder):
    text = GOOD.replace("shop.*", "shop.list").replace(
        "main: {", 'spare: {url: "https://x"}, main: {'
    )
    (folder / "gateway.yaml").write_text(text)
    result = modelway("check")
    assert result.exit_code == 0
    assert "1 info" in result.output
    assert "1 warning" in result.output
    assert "no route serves 1 of 2 operations: shop.more" in result.output
    assert "no route serves" not in modelway("check", "-q").output


def test_check_warns_of_violations_of_the_standard(folder):
    (folder / "shop.yaml").write_text(DOCUMENT.replace('title: Shop, version: "1"', "title: Shop"))
    result = modelway("check")
    assert result.exit_code == 0
    assert "breaks the OpenAPI standard" in result.output


@pytest.mark.parametrize("file", ["missing.yaml", "."])
def test_check_of_a_config_that_cannot_be_read_is_a_problem(folder, file):
    result = modelway("check", "-c", file)
    assert result.exit_code in (1, 2)
    assert "Traceback" not in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)


def test_markup_in_a_file_is_not_interpreted(folder):
    (folder / "gateway.yaml").write_text(GOOD + "'[red]x[/nonsense]': 1\n")
    result = modelway("check")
    assert result.exit_code == 1
    assert "unknown key '[red]x[/nonsense]'" in result.output


def test_the_shipped_config_has_no_problems():
    keys = {f"{name}_API_KEY": "x" for name in ("OPENAI", "ANTHROPIC", "GEMINI", "RERANK")}
    result = modelway("check", "-q", "-c", str(files.CONFIG), env=keys)
    assert (result.exit_code, result.output) == (0, "")


MANY = """version: 1
specs: {shop: {document: shop.yaml, mount: /v1}}
upstreams:
  a: {url: "http://a.internal"}
  b: {url: "http://b.internal"}
  c: {url: "http://c.internal"}
  d: {url: "http://d.internal"}
  e: {url: "http://e.internal"}
  f: {url: "http://f.internal"}
routes: [{operation: shop.list, to: [{upstream: a}, {upstream: nowhere}]}]
"""
"""An error after five equal warnings."""


def test_errors_come_first_and_equal_codes_are_grouped_after_the_third(folder):
    (folder / "gateway.yaml").write_text(MANY)
    lines = modelway("check").stdout.splitlines()
    places = [line for line in lines if ".yaml:" in line and "[MW" in line]
    assert [place.split("[")[1] for place in places] == ["MW313]", *["MW318]"] * 3, "MW306]"]
    assert "2 more warnings [MW318]: `modelway check --all` prints them" in lines
    assert lines[-2:] == [
        "gateway.yaml: 1 error, 5 warnings, 1 info",
        "next: correct the error, then check again; "
        "`modelway check --explain MW313` explains the first",
    ]


def test_one_more_of_a_code_is_counted(folder):
    (folder / "gateway.yaml").write_text(MANY.replace('  e: {url: "http://e.internal"}\n', ""))
    assert "1 more warning [MW318]: `modelway check --all` prints it" in modelway("check").stdout


@pytest.mark.parametrize("words", [["--all"], ["-v"], ["--json"], ["--format", "github"]])
def test_every_problem_is_printed_on_request_and_for_programs(folder, words):
    (folder / "gateway.yaml").write_text(MANY)
    output = modelway("check", *words).stdout
    assert output.count("MW318") >= 5
    assert "more warning" not in output


_TOKENS = f"tokens: [{{name: alice, sha256: {'1f' * 32}}}]\n"


@pytest.mark.parametrize(
    ("words", "last"),
    [
        (["gateway.yaml"], "next: `modelway serve -c gateway.yaml` runs it"),
        ([], "next: `modelway serve` runs it"),
        (["-c", "gateway.yaml"], "next: `modelway serve -c gateway.yaml` runs it"),
        (["gateway.yaml", "gateway.yaml"], "next: `modelway serve -c gateway.yaml` runs it"),
        (["gateway.yaml", "same.yaml"], "next: `modelway serve -c FILE` runs it"),
        (
            ["unwise.yaml"],
            "next: read the warning; `modelway check --explain MW401` explains the first; "
            "`modelway serve -c unwise.yaml` runs it as it is",
        ),
        (
            ["unwise.yaml", "--strict"],
            "next: correct the warning, then check again; "
            "`modelway check --explain MW401` explains the first",
        ),
    ],
)
def test_the_last_line_says_what_to_do_next(folder, words, last):
    for name, text in (("gateway", GOOD), ("same", GOOD), ("unwise", UNWISE)):
        (folder / f"{name}.yaml").write_text(text + _TOKENS)
    assert modelway("check", *words).stdout.splitlines()[-1] == last


_NO_CALLERS = "`modelway token new NAME` prints an entry for `tokens`, which has none yet"


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        (GOOD, True),
        (UNWISE, True),
        (GOOD + _TOKENS, False),
        (GOOD + 'stores: {records: "sqlite:///a.db"}\n', False),
        (GOOD.replace("operations: shop.*", "operations: shop.*, auth: none"), False),
        (BAD, False),
    ],
)
def test_a_config_without_tokens_is_told_how_to_get_one(folder, text, is_told):
    (folder / "gateway.yaml").write_text(text)
    last = modelway("check").stdout.splitlines()[-1]
    assert (_NO_CALLERS in last) is is_told


def test_a_folder_without_a_config_is_told_how_to_begin(folder):
    (folder / "gateway.yaml").unlink()
    for command in ("check", "routes", "serve", "config"):
        output = modelway(command).output
        assert "`modelway init FOLDER` writes a new project" in output, command
    for command, consequence in (("routes", "listed"), ("reload", "reloaded"), ("serve", "served")):
        assert f"1 error; nothing is {consequence}." in modelway(command).output, command
    for command in ("usage", "top"):
        assert "`modelway init FOLDER` writes a new project" in modelway(command).output, command
