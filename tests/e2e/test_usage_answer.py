"""`GET /v1/usage`: callers see what is left of their limits, and nothing of others."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from jsonschema import Draft202012Validator

from engine.stores.database.open_database import open_database
from engine.stores.database.usage import UsageTable
from engine.stores.ledger_entry import Entry
from tests.support import yaml_text
from tests.support.paths import ROOT
from tests.support.recording import ask, request
from tests.support.running import Running, modelway
from tests.support.small import chat
from tests.support.thorough import share
from tests.support.usage_gateway import SECRETS, usage_gateway
from tests.support.waiting import until

DOCUMENT = yaml_text.load((Path(ROOT) / "openapi/modelway.yaml").read_text())
VALIDATORS = {
    path: Draft202012Validator(
        {"$ref": f"#/components/schemas/{name}", "components": DOCUMENT["components"]}
    )
    for path, name in (("", "Usage"), ("/requests", "UsageRequests"))
}


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with usage_gateway(tmp_path_factory.mktemp("front")) as running:
        for name, count in (("ann", 2), ("ben", 3), ("cid", 1)):
            for _ in range(count):
                assert ask(running.port, chat("chat", token=SECRETS[name])).status == 200
        until(lambda: _requests(running, "cid") == 1, "the rows of the ledger")
        yield running


def _requests(running: Running, name: str) -> int:
    """The requests for a model that the ledger has."""
    return sum(model["requests"] for model in usage(running, name)["usage"]["models"])


def usage(running: Running, name: str, query: str = "", path: str = "") -> dict:
    response = ask(running.port, request(f"/v1/usage{path}{query}", token=SECRETS[name]))
    assert response.status == 200, response.body
    assert response.value("cache-control") == "no-store"
    VALIDATORS[path].validate(response.json())
    return response.json()


def limits(answer: dict) -> dict:
    """The amount and the rest of each limit, by its kind and holder."""
    return {
        (limit["kind"], *limit["by"].values()): (limit["amount"], limit["left"])
        for limit in answer["limits"]
    }


def test_a_caller_sees_its_limits_and_those_of_its_teams(front: Running) -> None:
    found = limits(usage(front, "ann"))
    assert found["requests", "ann"] == (100, 98)
    assert found["concurrency", "ann"] == (5, 5)
    assert found["budget", "search"] == ("5.00", "4.95")
    assert found["tokens", "company"] == (1_000_000, 999_950)
    assert found["requests", "ann", "one"] == (60, 58)
    assert len(found) == 5


def test_a_caller_without_limits_of_its_own_sees_those_of_policies(front: Running) -> None:
    answer = usage(front, "cid")
    assert limits(answer) == {("requests", "cid", "one"): (60, 59)}
    assert answer["team"] is None


def test_sums_are_those_of_the_token_or_of_its_team(front: Running) -> None:
    until(lambda: _requests(front, "ben") == 3, "the rows of the ledger")
    own, team = usage(front, "ann")["usage"], usage(front, "ann", "?of=team")["usage"]
    assert (own["of"], team["of"]) == ({"token": "ann"}, {"team": "search"})
    assert [model["requests"] for model in own["models"] if model["model"] == "one"] == [2]
    assert [model["cost"] for model in team["models"] if model["model"] == "one"] == [
        {"USD": "0.05"}
    ]
    assert "cid" not in json.dumps(team)


@pytest.mark.parametrize(
    ("query", "token", "status"),
    [
        ("?days=0", "ann", 400),
        ("?days=93", "ann", 400),
        ("?from=2020-01-01", "ann", 400),
        ("?by=tag:other", "ann", 400),
        ("/requests?limit=101", "ann", 400),
        ("/requests?after=req_x", "ann", 400),
        ("/requests", "", 401),
        ("?of=everybody", "ann", 400),
        ("?of=team", "cid", 400),
        ("", "", 401),
    ],
)
def test_what_is_refused(front: Running, query: str, token: str, status: int) -> None:
    response = ask(front.port, request(f"/v1/usage{query}", token=SECRETS.get(token, "mw-none")))
    assert response.status == status
    assert response.json()["error"]["message"]


def test_tags_are_in_the_ledger(front: Running) -> None:
    for name in ("ann", "ben"):
        body = {"model": "one", "messages": [], "metadata": {"project": "p-1"}}
        sent = request(
            "/v1/chat/chat/completions",
            json.dumps(body).encode(),
            token=SECRETS[name],
            headers=["x-customer: acme"],
        )
        assert ask(front.port, sent).status == 200

    def rows(by: str) -> dict[str, int]:
        result = modelway("usage", "--by", by, "--format", "json", cwd=front.log.parent)
        return {row[by]: row["requests"] for row in json.loads(result.stdout)["totals"]}

    until(lambda: rows("project").get("p-1") == 2, "the rows of the ledger")
    assert rows("customer")["acme"] == 1
    (row,) = [row for row in usage(front, "ann", path="/requests")["data"] if row["tags"]]
    assert row["tags"] == {"customer": "acme", "project": "p-1"}
    assert (row["model"], row["status"], row["cost"]) == ("one", 200, {"USD": "0.01"})
    until(lambda: _tagged(front, "ann") == {"acme": 1}, "the sums of tags")


def _tagged(front: Running, name: str) -> dict[str, int]:
    rows = usage(front, name, "?by=tag:customer")["usage"]["rows"]
    return {row["value"]: row["requests"] for row in rows}


TEAMS = {"ann": "search", "ben": "search", "cid": "", "dan": "ads", "eve": "company"}
VALUES = [
    *("ben", "search", "ads", "*", "%", "", "' OR '1'='1", "x'; DROP TABLE usage; --", "1 UNION"),
    *("../ben", "ben%00", "null", "[]", "1e99", "9" * 400, "-1", "\u0661", "${jndi:x}"),
]
PARAMETERS = [
    *("of", "by", "from", "to", "days", "limit", "after", "token", "team", "caller", "name"),
    *("user", "of[]", "tag", "since", "until", "OF"),
]
FORMS = [
    "",
    *("of=team", "of=token&of=team", "by=day", "by=model", "by=tag:customer", "by=tag:project"),
    *("of=team&by=day", "of=team&by=model", "of=team&by=tag:customer", "days=92", "limit=100"),
    *("from=0001-01-01&to=9999-12-31", "to=9999-12-31", "after=req-of-ben", "after=req-of-dan"),
]
CROSSED = [f"{name}={quote(value)}" for name in PARAMETERS for value in VALUES]


@pytest.fixture(scope="module")
def marked(front: Running) -> set[str]:
    """Rows of every token whose model and tags are its own; the names of all."""
    database = open_database(f"sqlite:///{front.log.parent}/records.db")
    now = time.time() - 60
    UsageTable(database).insert(
        [
            Entry(
                f"req-of-{name}", now, name, team=team, model_asked=f"model-of-{name}",
                currency="USD", tags=f'{{"customer":"tag-of-{name}","project":"tag-of-{name}"}}',
            )
            for name, team in TEAMS.items()
        ]
    )  # fmt: skip
    database.close()
    query = "?of=team&by=model"
    for name in ("ann", "ben"):  # sums are read again after five seconds
        until(lambda name=name: "model-of-ben" in json.dumps(usage(front, name, query)), "new sums")
    return {f"{kind}-of-{name}" for kind in ("req", "model", "tag") for name in TEAMS}


@pytest.mark.parametrize("name", SECRETS)
def test_no_form_of_the_parameters_shows_anything_of_others(
    front: Running, marked: set[str], name: str
) -> None:
    team = {each for each in TEAMS if TEAMS[each] == TEAMS[name] != ""}
    seen: set[str] = set()
    for path in VALIDATORS:
        for form in (*FORMS, *share(CROSSED, list(SECRETS).index(name))):
            sent = request(f"/v1/usage{path}?{form}", token=SECRETS[name])
            response = ask(front.port, sent)
            assert response.status in (200, 400), (path, form, response.body)
            if response.status == 200:
                VALIDATORS[path].validate(response.json())
            text = response.body.decode()
            shown = {mark for mark in marked if mark in text}
            of_team = "of=team" in form and not path
            allowed = team if of_team else {name}
            assert {mark.rpartition("-")[2] for mark in shown} <= allowed, (path, form)
            seen |= shown
    assert {f"{kind}-of-{name}" for kind in ("req", "model", "tag")} <= seen
    assert {f"model-of-{each}" for each in team} <= seen
