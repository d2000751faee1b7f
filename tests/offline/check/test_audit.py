"""What is right and still unwise: cases/audit holds configs, and every warning of each.

The cases are written like those of tests/config/test_cases.py; here nothing but warnings is to be
found, the shipped files have none, and what is ignored with a comment is not told of.
"""

import json
import re
from datetime import date, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from engine import cli
from engine.config import providers
from engine.offline.check import audit
from engine.offline.check.ignores import Ignores
from engine.plan.assembly.make_plan import make_plan
from engine.source import files
from engine.source.problem import Level, Problem, render
from tests.config.test_cases import case
from tests.config.test_robustness import CONFIG, DOCUMENT, changed, paths
from tests.support.each import each
from tests.support.paths import CASES as ALL_CASES

CASES = ALL_CASES / "audit"
FILES = sorted(CASES.glob("*.yaml"))
LATER = date(2100, 1, 1)
"""A date at which all prices of providers are old."""
RULES = Path(audit.__file__).parent / "rules"


@pytest.fixture(autouse=True)
def in_the_folder_of_the_cases(monkeypatch):
    monkeypatch.chdir(CASES)


def audited(file, environ):
    planned = make_plan(Path(file.name), environ)
    assert planned.findings.errors == []
    audit.audit(planned, environ, LATER)
    ignores = Ignores()
    return planned, [*ignores.silence(planned.problems, planned.texts), *ignores.unused()]


@each("file", FILES, ids=lambda file: file.stem)
def test_every_warning_of_a_case_is_found_at_its_place_and_no_other(file):
    case_ = case(file)
    _, problems = audited(file, case_.environ)
    missing, surplus = list(case_.expected), []
    for problem in problems:
        if problem.level is Level.INFO:
            continue
        expectation = next((e for e in missing if e.is_met_by(problem)), None)
        if expectation is None:
            surplus.append(f"{problem} | {problem.hint}")
        else:
            missing.remove(expectation)
    assert (missing, surplus) == ([], [])


@each("file", FILES, ids=lambda file: file.stem)
def test_no_secret_of_a_case_is_shown_with_any_problem(file):
    planned, problems = audited(file, case(file).environ)
    every = [Problem(file.name, n, 1, Level.INFO, "MW000", "") for n in range(1, 30)]
    output = "".join(render(each_problem, planned.texts) for each_problem in [*problems, *every])
    assert "written-here" not in output
    assert "sk-from-outside" not in output.partition("# env:")[0]


def test_of_many_failovers_that_lose_fields_the_last_in_the_list_stands_for_the_others():
    _, problems = audited(CASES / "failover-that-loses-fields-of-many-models.yaml", {})
    messages = [problem.message for problem in problems if problem.code == "MW424"]
    assert len(messages) == 20
    assert messages[-1].endswith("; other models have such failovers as well")
    assert not any("other models" in message for message in messages[:-1])


@pytest.mark.parametrize("path", sorted(RULES.glob("[a-z]*.py")), ids=lambda path: path.stem)
def test_every_rule_has_a_case_that_it_warns_of_and_says_what_it_is_for(path):
    text = path.read_text("utf-8")
    codes = re.findall('"(MW[0-9]{3})"', text)
    cases = [file.read_text("utf-8") for file in FILES]
    assert any(f"warning {code}" in case for code in codes for case in cases)
    assert text.startswith('"""')


def test_with_errors_nothing_is_audited():
    text = (CASES / "plain-http.yaml").read_text("utf-8").replace("upstream: main", "upstream: x")
    planned = make_plan(Path("gateway.yaml"), {}, text)
    audit.audit(planned, {})
    assert {problem.code for problem in planned.findings.errors} == {"MW313"}
    assert "MW401" not in {problem.code for problem in planned.problems}


VENDORS = ("OPENAI", "ANTHROPIC", "GEMINI", "RERANK")
KEYS = {f"{name}_API_KEY": "sk-from-outside" for name in VENDORS}
KEYS["CLIENT_SECRET_KEY"] = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize("environ", [KEYS, KEYS | {"GUNICORN_CMD_ARGS": "--workers 2"}])
def test_the_shipped_config_is_silent_when_all_keys_are_set(environ):
    planned = make_plan(files.CONFIG, environ)
    audit.audit(planned, environ)
    assert planned.problems == []


@pytest.mark.parametrize("missing", VENDORS)
def test_the_shipped_config_names_the_key_that_is_not_set_at_its_place(missing):
    environ = {name: value for name, value in KEYS.items() if not name.startswith(missing)}
    planned = make_plan(files.CONFIG, environ)
    audit.audit(planned, environ)
    (warning,) = planned.problems
    upstream = missing.lower()
    assert (
        warning.message
        == f"{missing}_API_KEY is not set: upstream '{upstream}' will refuse every request"
    )
    line = files.CONFIG.read_text("utf-8").splitlines()[warning.line - 1]
    assert line[warning.column - 1 :].startswith(f'"${{{missing}_API_KEY:-')
    assert planned.plan is not None


def test_what_init_writes_passes_with_one_key_and_warns_of_the_others(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("MODELWAY_CONFIG", *KEYS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-outside")
    assert CliRunner().invoke(cli.main, ["init", "."]).exit_code == 0
    ran = CliRunner().invoke(cli.main, ["check"])
    assert (ran.exit_code, ran.stdout.splitlines()[-2]) == (0, "gateway.yaml: 3 warnings, 2 infos")
    assert "openai.createRealtimeClientSecret answers 501: there are no keys" in ran.stdout
    assert "OPENAI_API_KEY" not in ran.stdout


def test_what_init_writes_is_silent_under_strict_when_all_keys_are_set(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MODELWAY_CONFIG", raising=False)
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    assert CliRunner().invoke(cli.main, ["init", "."]).exit_code == 0
    ran = CliRunner().invoke(cli.main, ["check", "--strict"])
    assert (ran.exit_code, ran.stdout.splitlines()[0]) == (0, "gateway.yaml: no problems")


def problem(line=1, code="MW401", level=Level.WARNING, file="f"):
    return Problem(file, line, 1, level, code, "m")


@pytest.mark.parametrize("level", [Level.WARNING, Level.INFO])
def test_a_warning_or_a_note_is_silenced(level):
    ignores = Ignores()
    assert ignores.silence([problem(level=level)], {"f": "a: 1 # modelway: ignore MW401"}) == []
    assert ignores.unused() == []


def test_an_error_is_never_silenced_and_its_ignore_is_of_no_use():
    ignores, error = Ignores(), problem(level=Level.ERROR)
    assert ignores.silence([error], {"f": "a: 1 # modelway: ignore MW401"}) == [error]
    assert [(p.line, p.column, p.code) for p in ignores.unused()] == [(1, 25, "MW413")]


def test_an_ignore_is_for_its_own_line_and_file():
    ignores = Ignores()
    warnings = [problem(line=2), problem(file="g")]
    assert (
        ignores.silence(warnings, {"f": "a: 1 # modelway: ignore MW401\n", "g": "b: 1"}) == warnings
    )


def test_an_ignore_of_use_to_one_of_several_configs_is_not_useless():
    ignores, texts = Ignores(), {"f": "a: 1 # modelway: ignore MW401"}
    ignores.silence([], texts)
    ignores.silence([problem()], texts)
    assert ignores.unused() == []


@pytest.mark.parametrize("before", ["", "x: |\n  # modelway: ignore MW401\n", "\n\n", "é: 1\r\n"])
def test_an_ignore_is_found_on_its_line(before):
    ignores = Ignores()
    text = before + "a: 1   # modelway: ignore MW401 why\n"
    line = len(text.splitlines())
    assert ignores.silence([problem(line=line)], {"f": text}) == []
    assert ignores.unused() == []


def test_ignores_are_read_in_a_file_that_is_no_yaml():
    ignores = Ignores()
    assert ignores.silence([problem()], {"f": "a: [ # modelway: ignore MW401\n"}) == []


def test_of_very_many_models_without_a_price_the_first_are_named_and_the_rest_counted():
    text = (CASES / "spending-without-prices.yaml").read_text("utf-8")
    models = ", ".join(f"m{number}: {{to: [{{upstream: main}}]}}" for number in range(99))
    text = text.replace("models: {", f"models: {{{models}, ", 1)
    planned = make_plan(Path("gateway.yaml"), {}, text)
    audit.audit(planned, {})
    messages = [problem.message for problem in planned.problems if problem.code == "MW409"]
    assert len(messages) == 20
    assert messages[-1].endswith("so do 80 more")


@pytest.mark.parametrize(("days", "warns"), [(0, False), (120, False), (121, True)])
def test_prices_of_a_provider_are_old_after_120_days(days, warns):
    file = Path("spending-by-old-prices-of-a-provider.yaml")
    planned = make_plan(file, {"KEY": "x"})
    date_of_prices = providers.read("groq").date
    audit.audit(planned, {}, date_of_prices + timedelta(days=days))
    messages = [problem.message for problem in planned.problems if problem.code == "MW417"]
    words = f"spending is limited by prices of provider 'groq' of {date_of_prices}, 121 days ago"
    assert messages == ([words] if warns else [])


def test_models_of_a_wildcard_without_a_price_are_named():
    planned = make_plan(Path("spending-on-a-wildcard-of-a-provider.yaml"), {"KEY": "x"})
    audit.audit(planned, {})
    (message,) = [problem.message for problem in planned.problems if problem.code == "MW409"]
    assert message.startswith("spending is limited, but 'canopylabs/")
    assert message.endswith(" more of '*' have no price and count as free")


SOUND = changed(CONFIG, ("routes", 2), ...)


@pytest.mark.parametrize("section", SOUND)
def test_the_audit_terminates_for_any_config(section, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.json").write_text(json.dumps(DOCUMENT), "utf-8")
    audited = 0
    for at in paths(SOUND):
        for new in (..., "", "http://x", [], "9d") if at[:1] == (section,) else ():
            text = json.dumps(changed(SOUND, at, new), indent=1)
            planned = make_plan(Path("gateway.yaml"), {}, text)
            audit.audit(planned, {"GUNICORN_CMD_ARGS": "--access-logfile -"})
            audited += planned.plan is not None
    assert audited or section in ("version", "specs")
