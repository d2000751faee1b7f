"""Objects behind a gateway: two upstreams, of which one has two accounts, and callers who try to
reach what is not theirs. The vendor is scripted; the gateway is a real one."""

from __future__ import annotations

import itertools
import json
import re
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from engine.process.runtime_dir import runtime_directory
from engine.server.master_state import read
from engine.values.caller import digest
from tests.support.each import each
from tests.support.object_vendor import Vendor
from tests.support.paths import CASES
from tests.support.recording import (
    MULTIPART,
    HttpAnswer,
    Recorder,
    ask,
    multipart,
    recorder,
    request,
)
from tests.support.running import Running, gateway
from tests.support.waiting import until

NAMES = ("ann", "bob", "cat")
SECRETS = {name: "mw-" + letter * 64 for name, letter in zip(NAMES, "abc", strict=True)}
OLD, NEW = "0123456789abcdef" * 4, "fedcba9876543210" * 4
UPLOAD = multipart(('name="purpose"', b"x"), ('name="file"; filename="d.jsonl"', b"{}\n"))

CONFIG = """
version: 1
server: {{listen: "{{listen}}", workers: 1, heavy: {{processes: 1}}}}
objects: {{{objects}}}
specs: {{v: {{document: vendor.yaml, dialect: openai}}}}
upstreams:
{upstreams}
models:
  m: {{to: [{{upstream: beta}}, {{upstream: alpha}}]}}
  only-beta: {{to: [{{upstream: beta}}]}}
routes:
  - {{operations: [v.createResponse], model: "$request.body#/model"}}
  - {{operations: ["v.*"], to: [{targets}]}}
tokens:
{tokens}
"""
ALPHA = """  alpha:
    {url: "${UPSTREAM}/alpha/v1", dialect: openai, proxy: "", retry: {attempts: 2},
     credentials: [{bearer: one}, {bearer: two}]}
"""
BETA = """  beta:
    {url: "${UPSTREAM}/beta/v1", dialect: openai, proxy: "", credential: {bearer: three}}
"""


def config(objects: str = 'key: "${OLD}"', *, alpha: bool = True) -> str:
    teams = {"ann": "red", "bob": "blue", "cat": "red"}
    tokens = [
        f"  - {{name: {name}, sha256: {digest(SECRETS[name])}, team: {team}}}"
        for name, team in teams.items()
    ]
    text = CONFIG.format(
        objects=objects,
        upstreams=(ALPHA if alpha else "") + BETA,
        targets="{upstream: alpha}, {upstream: beta}" if alpha else "{upstream: beta}",
        tokens="\n".join(tokens),
    )
    return text if alpha else text.replace(", {upstream: alpha}", "")


@dataclass
class House:
    """A gateway in front of the vendor."""

    running: Running
    upstream: Recorder
    vendor: Vendor

    def ask(
        self, name: str, target: str, value: Any = None, *, method: str = "", **options: Any
    ) -> HttpAnswer:
        """The answer to a request of a caller."""
        body = json.dumps(value).encode() if isinstance(value, dict) else value
        head = request(target, body, method=method, token=SECRETS[name], **options)
        return ask(self.running.port, head)

    def upload(self, name: str) -> str:
        """The id of a new file of a caller."""
        answer = self.ask(name, "/v1/files", UPLOAD, media_type=MULTIPART)
        assert answer.status == 200, answer.body
        return str(answer.json()["id"])

    def files_at(self, name: str, upstream: str, account: str = "") -> str:
        """A file of a caller at an upstream: uploads go to all of them."""
        for _ in range(100):
            vendor_id = self.upload(name)
            last = self.upstream.last
            if f"/{upstream}/" in last.target and account in last.values("authorization")[0]:
                return vendor_id
        raise AssertionError(f"no upload went to {upstream}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("objects")
    (path / "vendor.yaml").write_bytes((CASES / "objects/vendor.yaml").read_bytes())
    return path


@pytest.fixture(scope="module")
def upstream() -> Iterator[Recorder]:
    with recorder() as recording:
        yield recording


@pytest.fixture(scope="module")
def vendor(upstream: Recorder) -> Vendor:
    vendor = Vendor(upstream.url)
    upstream.speak = vendor.speak
    return vendor


@pytest.fixture(scope="module")
def house(folder: Path, upstream: Recorder, vendor: Vendor) -> Iterator[House]:
    with gateway(folder, config(), environ(upstream)) as running:
        yield House(running, upstream, vendor)


def environ(upstream: Recorder) -> dict[str, str]:
    return {"UPSTREAM": upstream.url, "OLD": OLD, "NEW": NEW}


def objects_of(house: House, name: str) -> dict[str, str]:
    """An object of each kind of a caller."""
    file = house.files_at(name, "alpha", "two")
    batch = house.ask(name, "/v1/batches", {"input_file_id": file})
    response = house.ask(name, f"/v1/responses?file={file}", {"model": "m"})
    picture = house.ask(name, "/v1/pictures", {"displayName": "p"})
    for answer in (batch, response, picture):
        assert answer.status == 200, answer.body
    return {
        "file": file,
        "batch": batch.json()["id"],
        "response": response.json()["id"],
        "picture": picture.json()["name"].removeprefix("files/"),
    }


def uses(kind: str, vendor_id: str) -> list[tuple[str, str, Any, dict[str, Any]]]:
    """Every place in which an id of a kind can be sent: method, target, body, options."""
    chat = {"model": "m"}
    part = {**chat, "input": [{"content": [{"file_id": vendor_id}]}]}
    everywhere: dict[str, list[tuple[str, str, Any, dict[str, Any]]]] = {
        "file": [
            ("GET", f"/v1/files/{vendor_id}", None, {}),
            ("GET", f"/v1/files/{vendor_id}/content", None, {}),
            ("GET", f"/v1/files?after={vendor_id}", None, {}),
            ("POST", "/v1/batches", {"input_file_id": vendor_id}, {}),
            ("POST", f"/v1/responses?file={vendor_id}", chat, {}),
            ("POST", "/v1/responses", chat, {"headers": [f"X-File: {vendor_id}"]}),
            ("POST", "/v1/responses", part, {}),
            ("POST", "/v1/responses", {**part, "stream": True}, {}),
            ("POST", "/v1/responses", {**part, "pad": "x" * 400_000}, {}),  # a heavy worker's
        ],
        "batch": [("GET", f"/v1/batches/{vendor_id}", None, {})],
        "response": [
            ("GET", f"/v1/responses/{vendor_id}", None, {}),
            ("POST", "/v1/responses", {**chat, "previous_response_id": vendor_id}, {}),
        ],
        "picture": [("GET", f"/v1/pictures/{vendor_id}", None, {})],
    }
    return everywhere[kind]


def vendor_ids(vendor: Vendor) -> set[str]:
    collections = (of.items() for of in vendor.accounts.values())
    return {each for _, kept in itertools.chain(*collections) for each in kept}


def test_nobody_reaches_what_is_anothers(house: House, vendor: Vendor) -> None:
    """Every kind in every place: the owner gets it, all others one 404 that the vendor never
    sees."""
    mine = objects_of(house, "ann")
    refusals: set[tuple[bytes, str]] = set()
    for kind, vendor_id in mine.items():
        for method, target, value, options in uses(kind, vendor_id):
            own = house.ask("ann", target, value, method=method, **options)
            assert own.status == 200, (kind, target, own.body)
            if kind != "picture" and "after=" not in target:  # a list goes on to other accounts
                assert house.upstream.last.values("authorization") == ["Bearer two"]
            for raw in vendor_ids(vendor):
                assert f'"{raw}"'.encode() not in own.body, (kind, target, own.body)
            before = len(house.upstream.requests)
            for name in ("bob", "cat"):
                answer = house.ask(name, target, value, method=method, **options)
                assert answer.status == 404, (kind, name, target, answer.body)
                refusals.add((answer.body, answer.value("content-type")))
            assert len(house.upstream.requests) == before
    assert len(refusals) == 1


def test_an_id_that_was_never_sealed_is_refused_alike(house: House, vendor: Vendor) -> None:
    mine = objects_of(house, "ann")
    expected = house.ask("bob", f"/v1/files/{mine['file']}").body
    raw = {
        "file": next(each for each in vendor_ids(vendor) if each.startswith("file-")),
        "batch": next(each for each in vendor_ids(vendor) if each.startswith("batch_")),
        "response": next(each for each in vendor_ids(vendor) if each.startswith("resp_")),
        "picture": next(e[6:] for e in vendor_ids(vendor) if e.startswith("files/")),
    }
    for kind, vendor_id in raw.items():
        others = [mine[each] for each in mine if each != kind]
        broken = [mine[kind][:-1], mine[kind] + "x", mine[kind].upper()]
        for text in (vendor_id, *others, *broken):
            for method, target, value, options in uses(kind, text):
                answer = house.ask("ann", target, value, method=method, **options)
                assert (answer.status, answer.body) == (404, expected), (kind, text, target)


def test_a_repeated_member_hides_no_id(house: House, vendor: Vendor) -> None:
    assert house.ask("ann", "/v1/responses", {"model": "m"}).status == 200
    raw = next(each for each in vendor_ids(vendor) if each.startswith("resp_"))
    body = f'{{"model":"m","previous_response_id":"{raw}","previous_response_id":null}}'.encode()
    assert house.ask("bob", "/v1/responses", body).status == 400


def test_objects_of_two_upstreams_are_refused_by_name(house: House) -> None:
    alpha, beta = house.files_at("ann", "alpha"), house.files_at("ann", "beta")
    part = {"model": "m", "input": [{"content": [{"file_id": beta}]}]}
    answer = house.ask("ann", f"/v1/responses?file={alpha}", part)
    assert answer.status == 400
    assert "a file at 'alpha', and a file at 'beta'" in answer.json()["error"]["message"]


def test_an_object_elsewhere_than_the_model_is_refused_by_name(house: House) -> None:
    file = house.files_at("ann", "alpha")
    answer = house.ask("ann", f"/v1/responses?file={file}", {"model": "only-beta"})
    assert answer.status == 400
    assert "lives at 'alpha', where 'only-beta' is not served" in answer.json()["error"]["message"]


def test_a_request_stays_with_its_objects_when_that_fails(
    house: House, vendor: Vendor, upstream: Recorder
) -> None:
    """Failover would ask another account, which does not know the id."""
    file = house.files_at("ann", "alpha", "one")
    upstream.requests.clear()
    upstream.speak = lambda received, sock: sock.sendall(
        b"HTTP/1.1 503 no\r\ncontent-length: 0\r\n\r\n"
    )
    try:
        answer = house.ask("ann", f"/v1/responses?file={file}", {"model": "m"})
    finally:
        upstream.speak = vendor.speak
    assert answer.status == 503
    asked = {(r.target.split("/")[1], *r.values("authorization")) for r in upstream.requests}
    assert asked == {("alpha", "Bearer one")}


@each("stream", [False, True])
def test_a_response_and_its_events_have_sealed_ids(house: House, stream: bool) -> None:
    first = house.ask("ann", "/v1/responses", {"model": "m"}).json()["id"]
    value = {"model": "m", "previous_response_id": first, "stream": stream}
    answer = house.ask("ann", "/v1/responses", value)
    assert answer.body.count(first.encode()) == (2 if stream else 1)
    assert answer.body.count(b'"resp_mw') == (4 if stream else 2)


def test_addresses_come_back_through_the_gateway(house: House) -> None:
    batch = house.ask("ann", "/v1/batches", {"input_file_id": house.upload("ann")}).json()
    assert batch["results_url"] == f"http://gateway/v1/batches/{batch['id']}/content"
    assert batch["metadata"] == {}


def test_lines_of_a_file_have_sealed_ids(house: House, vendor: Vendor) -> None:
    file = house.upload("ann")
    first, second = house.ask("ann", f"/v1/files/{file}/content").body.split(b"\n")
    assert json.loads(first)["response"]["body"]["id"].startswith("file-mw")
    assert second == b'{"error": null}'


def test_an_error_of_the_vendor_names_the_callers_id(house: House, vendor: Vendor) -> None:
    file = house.upload("ann")
    assert house.ask("ann", f"/v1/files/{file}", method="DELETE").json()["id"] == file
    answer = house.ask("ann", f"/v1/files/{file}")
    assert answer.status == 404
    assert file in answer.json()["error"]["message"]


def listed(house: House, name: str, target: str, items: str, cursor: str) -> list[Any]:
    """All rows of a list, page after page."""
    rows: list[Any] = []
    more = ""
    for _ in range(50):
        page = house.ask(name, target + more)
        assert page.status == 200, page.body
        rows += page.json().get(items, [])
        if cursor == "after":
            if not page.json()["has_more"] or not page.json()["data"]:
                return rows
            more = f"&after={page.json()['data'][-1]['id']}"
        elif "nextPageToken" not in page.json():
            return rows
        else:
            more = f"&pageToken={page.json()['nextPageToken']}"
    raise AssertionError("the list does not end")


def test_a_list_has_the_callers_own_rows_of_all_accounts(
    folder: Path, upstream: Recorder, vendor: Vendor, house: House
) -> None:
    vendor.accounts.clear()
    files: dict[str, list[str]] = {"ann": [], "bob": []}
    pictures: dict[str, list[str]] = {"ann": [], "bob": []}
    for _ in range(11):
        for name in files:
            files[name].append(house.upload(name))
            picture = house.ask(name, "/v1/pictures", {"displayName": "p"}).json()
            pictures[name].append(picture["name"])
    for name in files:
        rows = listed(house, name, "/v1/files?limit=3", "data", "after")
        assert sorted(row["id"] for row in rows) == sorted(files[name])
        assert {row["filename"] for row in rows} == {"d.jsonl"}
        rows = listed(house, name, "/v1/pictures?limit=2", "files", "pageToken")
        assert sorted(row["name"] for row in rows) == sorted(pictures[name])
        assert {row["displayName"] for row in rows} == {"p"}
    first = house.ask("ann", "/v1/files?limit=3").json()
    assert (len(first["data"]), first["has_more"]) == (3, True)
    assert (first["first_id"], first["last_id"]) == (first["data"][0]["id"], first["data"][2]["id"])
    assert house.ask("cat", "/v1/files").json()["data"] == []
    assert house.ask("bob", f"/v1/files?after={files['ann'][0]}").status == 404


def last_trial(config: Path) -> float:
    """When a gateway has last tried to reload, with success."""
    state = read(runtime_directory(config))
    assert state is not None
    assert not state.error
    return state.tried


def reload(running: Running, config: Path) -> None:
    before = last_trial(config)
    running.process.send_signal(signal.SIGHUP)
    until(lambda: last_trial(config) > before, "an answer to SIGHUP")


def test_ids_open_while_their_key_is_rotated_under_load(folder: Path, house: House) -> None:
    first, path, done = house.upload("ann"), folder / "gateway.yaml", Event()

    def use() -> set[tuple[int, str]]:
        """Ask with the id that was seen last. Returns statuses and ids."""
        answers = {(200, first)}
        vendor_id = first
        while not done.wait(0.01):
            answer = house.ask("ann", f"/v1/files/{vendor_id}")
            vendor_id = str(answer.json().get("id"))
            answers.add((answer.status, vendor_id))
        return answers

    rings = ('["${OLD}", "${NEW}"]', '["${NEW}", "${OLD}"]', '["${OLD}", "${NEW}"]')
    with ThreadPoolExecutor() as pool:
        users = [pool.submit(use) for _ in range(2)]
        try:
            for ring in rings:
                text = re.sub("objects: {key: .*}", f"objects: {{key: {ring}}}", path.read_text())
                path.write_text(text)
                reload(house.running, path)
        finally:
            done.set()
    answers = set[tuple[int, str]]().union(*(user.result() for user in users))
    assert {status for status, _ in answers} == {200}
    assert len(answers) == 2  # one id by each key
    assert {house.ask("bob", f"/v1/files/{each}").status for _, each in answers} == {404}


def test_ids_outlive_a_restart_with_another_key_and_end_with_their_upstream(
    folder: Path, upstream: Recorder, vendor: Vendor, house: House
) -> None:
    """Another gateway, as a replica or after a restart: a new key seals, and one upstream is
    removed."""
    alpha, beta = house.files_at("ann", "alpha"), house.files_at("ann", "beta")
    foreign = house.ask("bob", f"/v1/files/{alpha}").body
    text = config('key: ["${NEW}", "${OLD}"]', alpha=False)
    with gateway(folder, text, environ(upstream)) as running:
        other = House(running, upstream, vendor)
        found = other.ask("ann", f"/v1/files/{beta}")
        assert found.status == 200
        assert found.json()["id"] not in (beta, "")  # by the new key, from now on
        assert other.ask("ann", f"/v1/files/{found.json()['id']}").status == 200
        assert other.ask("bob", f"/v1/files/{beta}").body == foreign
        gone = other.ask("ann", f"/v1/files/{alpha}")
        assert (gone.status, gone.body) == (404, foreign)
        rows = listed(other, "ann", "/v1/files?limit=5", "data", "after")
        assert found.json()["id"] in [row["id"] for row in rows]


def test_a_team_shares_its_objects_and_old_ids_may_pass(
    folder: Path, upstream: Recorder, vendor: Vendor
) -> None:
    text = config('key: "${OLD}", owner: team, legacy: pass')
    with gateway(folder, text, environ(upstream)) as running:
        house = House(running, upstream, vendor)
        file = house.files_at("ann", "beta")
        statuses = [house.ask(name, f"/v1/files/{file}").status for name in NAMES]
        assert statuses == [200, 404, 200]
        raw = next(iter(vendor.accounts["three"]["files"]))
        answers = {house.ask("bob", f"/v1/files/{raw}").status for _ in range(30)}
        assert 200 in answers
