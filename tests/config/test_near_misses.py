"""Nine of ten typos of one letter get the right suggestion."""

import functools
import json
from pathlib import Path

import pytest

from engine import dialects, policies
from engine.config import json_schema
from engine.plan.assembly.make_plan import make_plan
from engine.source.suggestion import near
from tests.support.each import each
from tests.support.paths import ROOT
from tests.support.thorough import scale

LETTERS = "abcdefghijklmnopqrstuvwxyz_"


def typos(name: str) -> list[str]:
    """One-edit typos: every letter left out, doubled, swapped with the next, or hit beside."""
    typos = []
    for index, letter in enumerate(name):
        head, tail = name[:index], name[index + 1 :]
        typos.append(head + tail)
        typos.append(head + letter + letter + tail)
        typos.append(head + LETTERS[(LETTERS.find(letter.lower()) + 7) % len(LETTERS)] + tail)
        if tail:
            typos.append(head + tail[0] + letter + tail[1:])
    return [typo for typo in dict.fromkeys(typos) if typo and typo != name]


def groups() -> dict[str, list[str]]:
    """The names that stand beside each other, so that a typo in one must be told from the rest."""
    groups: dict[str, list[str]] = {}

    def walk(schema, at):
        if isinstance(schema, dict):
            if isinstance(schema.get("properties"), dict):
                groups[f"keys of {at}"] = list(schema["properties"])
            for key, below in schema.items():
                walk(below, f"{at}/{key}")
        elif isinstance(schema, list):
            for index, below in enumerate(schema):
                walk(below, f"{at}/{index}")

    walk(json_schema.schema(), "")
    for name in policies.names():
        walk(policies.KINDS.get(name).schema, f"policy {name}")
    planned = make_plan(ROOT / "gateway.yaml", {})
    assert planned.plan is not None
    groups["dialects"] = dialects.names()
    groups["policies"] = policies.names()
    groups["upstreams"] = list(planned.plan.config.upstreams)
    groups["models"] = list(planned.plan.config.models)
    for name, specification in planned.specifications.items():
        groups[f"operations of {name}"] = [op.id for op in specification.operations.values()]
    return groups


@functools.cache
def measured() -> dict[str, tuple[int, list[str]]]:
    """For each group, how many typos there are of its names, and those that are not met with the
    right one."""
    return {group: measured_names(names) for group, names in groups().items()}


def measured_names(names: list[str]) -> tuple[int, list[str]]:
    pairs = [(typo, name) for name in names for typo in typos(name) if typo not in names]
    pairs = pairs[:: scale(3, 1)]
    return len(pairs), [
        f"{t} -> {near(t, names)}, not {n}" for t, n in pairs if near(t, names) != n
    ]


def test_nine_of_ten_typos_of_all_real_names_are_met_with_the_right_name():
    total = sum(count for count, _ in measured().values())
    wrong = [typo for _, typos in measured().values() for typo in typos]
    assert total > 1000
    assert len(wrong) <= total * 0.1, wrong


def test_nine_of_ten_typos_are_met_with_the_right_name_in_every_group():
    few = {group: wrong for group, (total, wrong) in measured().items() if len(wrong) > total * 0.1}
    assert few == {}


CONFIG = {
    "version": 1,
    "server": {"listen": "127.0.0.1:8080", "workers": 2, "max_body": "1MB", "keepalive": "1s"},
    "specs": {"shop": {"document": "shop.yaml", "dialect": "plain", "token": [{"header": "x-k"}]}},
    "upstreams": {
        "main": {
            "url": "http://127.0.0.1:9",
            "dialect": "plain",
            "credential": {"header": "x-key", "value": "v"},
            "timeouts": {"connect": "3s", "first_byte": "3s", "idle": "3s", "total": "3s"},
            "forward_headers": ["x-a"],
            "pool": 3,
            "tls": {"verify": True},
        }
    },
    "models": {"small": {"to": [{"upstream": "main", "model": "s", "weight": 1}], "title": "S"}},
    "include": ["parts/*.yaml"],
    "stores": {
        "records": "sqlite:///x.db",
        "counters": "memory",
        "on_store_failure": "deny",
        "counters_timeout": "1s",
        "machines": 2,
        "token_ttl": "1s",
        "journal": "var/journal",
        "retention": "9d",
    },
    "prices": {"small": {"input": 1, "output": 1, "cached_input": 1, "image": 1, "second": 1}},
    "currency": "USD",
    "policies": [
        {"max_body": "1MB"},
        {"rate_limit": {"requests": 5, "per": "1m", "by": "route"}},
        {"concurrency": {"requests": 5, "by": "all"}},
        {"token_budget": {"tokens": 5, "per": "1d"}},
        {"spend_limit": {"amount": 5, "per": "1d"}},
    ],
    "routes": [
        {
            "operations": ["shop.chat"],
            "model": {"from": "$request.body#/model", "default": "small"},
            "validate": "strict",
        },
        {"operation": "shop.listItems", "to": [{"upstream": "main"}]},
    ],
    "tokens": [{"name": "a", "sha256": "ab" * 32, "expires": "2030-01-01", "models": ["small"]}],
}
WITH_FREE_NAMES = {("specs",), ("upstreams",), ("models",), ("prices",)}


def keys(value, at=()):
    """Every key of a config that is a word of ours, with the path of its mapping."""
    if isinstance(value, dict):
        for key, below in value.items():
            if at not in WITH_FREE_NAMES and not (len(at) == 2 and at[0] == "policies"):
                yield at, key
            yield from keys(below, (*at, key))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from keys(below, (*at, index))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    document = ROOT / "tests/cases/configs/openapi/shop.yaml"
    (tmp_path / "shop.yaml").write_text(document.read_text("utf-8"), "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_config_of_these_tests_is_right(folder):
    result = make_plan(Path("gateway.yaml"), {}, json.dumps(CONFIG))
    assert result.findings.errors == []


@each(("at", "key"), list(keys(CONFIG)))
def test_every_key_with_a_letter_too_few_is_unknown_at_its_place_with_the_right_hint(
    folder, at, key
):
    typo = key[:-2] + key[-1] if len(key) > 3 else key + key[-1]
    config = json.loads(json.dumps(CONFIG))
    holder = config
    for step in at:
        holder = holder[step]
    renamed = {(typo if name == key else name): below for name, below in holder.items()}
    holder.clear()
    holder.update(renamed)
    text = json.dumps(config, indent=2)
    result = make_plan(Path("gateway.yaml"), {}, text)
    unknown = [p for p in result.problems if p.code == "MW101"]
    assert [(p.message, p.hint) for p in unknown] == [
        (f"unknown key '{typo}'", f"did you mean '{key}'?")
    ]
    line = text.splitlines()[unknown[0].line - 1]
    assert line[unknown[0].column - 1 :].startswith(f'"{typo}"')
