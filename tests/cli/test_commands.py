"""The commands, in this process: what they print and how they exit. (Serving is tested in e2e.)"""

import os
import re

import pytest
import yaml
from click.testing import CliRunner

from engine import cli
from engine.plan.make import make_plan
from engine.source import files
from engine.values.caller import digest

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


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MODELWAY_CONFIG", raising=False)
    (tmp_path / "shop.yaml").write_text(DOCUMENT)
    (tmp_path / "gateway.yaml").write_text(GOOD)
    return tmp_path


def run(*args, **more):
    return CliRunner().invoke(cli.main, args, **more)


def commands():
    return cli.main.list_commands(None)


def test_every_command_has_its_file_and_its_name():
    assert commands() == [
        *("check", "demo", "diff", "explain", "init", "ledger", "mock"),
        *("reload", "routes", "schema", "serve", "test", "token", "top", "usage"),
    ]


@pytest.mark.parametrize("name", commands())
def test_every_command_has_a_help_text(name):
    result = run(name, "--help")
    assert result.exit_code == 0
    assert len(result.output.splitlines()) > 6
    assert run(name, "-h").output == result.output


def test_the_help_names_every_command():
    result = run("--help")
    for name in commands():
        assert re.search(rf"^  {name}  +[A-Z]", result.output, re.MULTILINE)


def test_the_version_is_printed():
    assert re.fullmatch(r"modelway, version \d+\.\d+\.\d+\n", run("--version").output)


@pytest.mark.parametrize(
    "args",
    [
        *(["nonsense"], ["check", "--nonsense"], ["check", "extra"], ["check", "-c"]),
        *(["check", "one", "two"], ["serve", "--port", "1"], ["mock", "--port", "many"]),
        *(["token"], ["token", "new"], ["init"], []),
    ],
)
def test_wrong_usage_exits_with_2(folder, args):
    result = run(*args)
    assert result.exit_code == 2
    assert re.search("Usage:|Error:", result.output)


def test_check_without_problems_exits_with_0(folder):
    result = run("check")
    assert (result.exit_code, result.output) == (0, "gateway.yaml: no problems\n")


def test_check_prints_every_error_and_exits_with_1(folder):
    text = GOOD.replace("upstream: main", "upstream: mian").replace("version: 1", "version: 2")
    (folder / "gateway.yaml").write_text(text)
    result = run("check")
    assert result.exit_code == 1
    assert "gateway.yaml:1:10: error: 'version' must be 1 [MW104]" in result.output
    assert "gateway.yaml:4:47: error: unknown upstream 'mian' [MW313]" in result.output
    assert "hint: did you mean 'main'?" in result.output
    assert "  4 | routes: [{operations" in result.output
    assert "2 errors" in result.output.splitlines()[-1]


def test_check_with_warnings_exits_with_0(folder):
    text = GOOD.replace("shop.*", "shop.list").replace(
        "main: {", 'spare: {url: "https://x"}, main: {'
    )
    (folder / "gateway.yaml").write_text(text)
    result = run("check")
    assert result.exit_code == 0
    assert "1 info" in result.output
    assert "1 warning" in result.output
    assert "no route serves 1 of 2 operations: shop.more" in result.output
    assert "no route serves" not in run("check", "-q").output


def test_check_warns_of_violations_of_the_standard(folder):
    (folder / "shop.yaml").write_text(DOCUMENT.replace('title: Shop, version: "1"', "title: Shop"))
    result = run("check")
    assert result.exit_code == 0
    assert "breaks the OpenAPI standard" in result.output


@pytest.mark.parametrize("file", ["missing.yaml", "."])
def test_check_of_a_config_that_cannot_be_read_is_a_problem(folder, file):
    result = run("check", "-c", file)
    assert result.exit_code in (1, 2)
    assert "Traceback" not in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)


def test_the_config_comes_from_the_option_or_the_environment(folder):
    os.rename(folder / "gateway.yaml", folder / "other.yaml")
    assert run("check").exit_code == 1
    assert run("check", "-c", "other.yaml").exit_code == 0
    assert run("check", env={"MODELWAY_CONFIG": "other.yaml"}).exit_code == 0


def test_markup_in_a_file_is_not_interpreted(folder):
    (folder / "gateway.yaml").write_text(GOOD + "'[red]x[/nonsense]': 1\n")
    result = run("check")
    assert result.exit_code == 1
    assert "unknown key '[red]x[/nonsense]'" in result.output


def test_the_shipped_config_has_no_problems():
    keys = {f"{name}_API_KEY": "x" for name in ("OPENAI", "ANTHROPIC", "GEMINI", "RERANK")}
    result = CliRunner().invoke(cli.main, ["check", "-q", "-c", str(files.CONFIG)], env=keys)
    assert (result.exit_code, result.output) == (0, "")


@pytest.mark.parametrize("name", ["serve", "routes", "mock"])
def test_with_errors_nothing_is_served(folder, name):
    (folder / "gateway.yaml").write_text(GOOD.replace("upstream: main", "upstream: mian"))
    result = run(name, "-c", "gateway.yaml")
    assert result.exit_code == 1
    assert "unknown upstream 'mian'" in result.output


def test_routes_lists_paths_with_targets_and_policies(folder):
    result = run("routes")
    assert result.exit_code == 0
    heading, *rows = [line.rstrip() for line in result.output.splitlines()]
    assert " ".join(heading.split()) == "METHOD PATH OPERATION MODEL FROM GOES TO GUARDS"
    assert [row.split()[:3] for row in rows] == [
        ["GET", "/v1/items", "shop.list"],
        ["GET", "/v1/more", "shop.more"],
    ]
    assert "main" in rows[0]
    assert "token" in rows[0]


def test_routes_of_the_shipped_config_has_a_line_for_each_path():
    result = run("routes", "-c", str(files.CONFIG))
    planned = make_plan(files.CONFIG, {})
    paths = [template for route in planned.plan.routes for template, _ in route.templates]
    for path in paths:
        assert path in result.output
    assert "gpt-image-1" in result.output
    assert "websocket" in result.output


def test_init_writes_a_project_without_problems(folder):
    result = run("init", "new/project")
    assert result.exit_code == 0
    made = folder / "new/project"
    assert {p.name for p in made.iterdir()} == {"gateway.yaml", "openapi", "schemas"}
    assert (made / "gateway.yaml").read_bytes() == files.CONFIG.read_bytes()
    assert run("check", "-q", "-c", str(made / "gateway.yaml")).exit_code == 0


@pytest.mark.parametrize("there", ["gateway.yaml", "openapi", "schemas"])
def test_init_overwrites_nothing(folder, there):
    (folder / "p").mkdir()
    (folder / "p" / there).mkdir()
    result = run("init", "p")
    assert result.exit_code == 1
    assert "nothing was written" in result.output
    assert [p.name for p in (folder / "p").iterdir()] == [there]


def test_init_into_a_file_is_wrong_usage(folder):
    assert run("init", "gateway.yaml").exit_code == 2


@pytest.mark.parametrize(
    ("args", "entry"),
    [
        (["alice"], {"name": "alice"}),
        (["alice", "--expires", "2027-01-31"], {"name": "alice", "expires": "2027-01-31"}),
        (
            ["alice", "--models", "gpt-4o*", "--models", "org/m:x"],
            {"name": "alice", "models": ["gpt-4o*", "org/m:x"]},
        ),
        (['a "quoted" \\ name: {x}'], {"name": 'a "quoted" \\ name: {x}'}),
        (["007"], {"name": "007"}),
        (["true"], {"name": "true"}),
        (["null"], {"name": "null"}),
        (["é # x"], {"name": "é # x"}),
        (["two\nlines"], {"name": "two\nlines"}),
    ],
)
def test_a_new_token_has_an_entry_that_works_when_pasted(folder, args, entry):
    result = run("token", "new", *args)
    assert result.exit_code == 0
    secret = re.search(r"^  (mw-[0-9a-f]{64})$", result.output, re.MULTILINE)[1]
    pasted = result.output[result.output.index("  - {") :]
    text = GOOD + "models: {gpt-4o: {to: [{upstream: main}]}}\ntokens:\n" + pasted
    planned = make_plan(folder / "gateway.yaml", {}, text)
    assert planned.findings.errors == []
    caller = planned.plan.config.tokens[digest(secret)]
    assert caller.name == entry["name"]
    assert list(caller.models or []) == entry.get("models", [])
    assert (caller.expires is not None) == ("expires" in entry)
    assert secret not in pasted


def test_two_tokens_have_different_secrets():
    secrets = [re.search(r"mw-\w+", run("token", "new", "a").output)[0] for _ in range(2)]
    assert secrets[0] != secrets[1]


@pytest.mark.parametrize("bad", ["tomorrow", "2027-02-30", "31.01.2027", ""])
def test_a_token_with_an_invalid_date_is_refused(bad):
    result = run("token", "new", "a", "--expires", bad)
    assert result.exit_code == 2
    assert "mw-" not in result.output


def test_an_empty_name_is_refused():
    assert run("token", "new", "").exit_code == 2


def test_the_entry_of_a_token_is_yaml():
    output = run("token", "new", "alice").output
    entry = yaml.safe_load(output[output.index("  - {") :])[0]
    assert set(entry) == {"name", "sha256"}
