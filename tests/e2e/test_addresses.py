"""A gateway whose upstream moves from one address to another: by DNS, by SRV, and by a file."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import dns.rcode
from prometheus_client.parser import text_string_to_metric_families

from tests.support.dns_server import dns_server
from tests.support.recording import ReceivedRequest, Recorder, Wire, answer, ask, recorder
from tests.support.running import Running, gateway
from tests.support.small import COMPLETION, chat, project
from tests.support.waiting import PATIENCE, until

ANSWER = answer(json.dumps(COMPLETION).encode())
METRICS = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
FEW = "  few: {to: [{upstream: main}], choose: least_busy}\n"
OF_TARGETS = ("breaker_state", "target_health", "target_in_flight", "target_answer_seconds")
SERVICE = "_http._tcp.models.test"
_PAUSE = 0.02


@contextmanager
def replicas(count: int) -> Iterator[list[Recorder]]:
    """Servers on one port of several addresses of this machine, 127.0.0.2 and on."""
    with ExitStack() as stack:
        first = stack.enter_context(recorder(host="127.0.0.2"))
        hosts = [f"127.0.0.{2 + number}" for number in range(1, count)]
        others = [stack.enter_context(recorder(host=host, port=first.port)) for host in hosts]
        for replica in (first, *others):
            replica.speak = ANSWER
        yield [first, *others]


@contextmanager
def serving(
    folder: Path,
    port: int,
    keys: str,
    workers: int = 1,
    models: str = "",
    host: str = "models.test",
) -> Iterator[Running]:
    """A gateway before `http://models.test` with more keys of that upstream, and more models."""
    config = project(folder, "http://unused.test", {"chat": "[]"}, workers=workers)
    line = f'main: {{url: "http://{host}:{port}/v1", {keys}}}'
    config, count = re.subn(r"main: \{.*\}", line, config, count=1)
    assert count == 1
    config = config.replace("models:\n", f"models:\n{models}")
    with gateway(folder, config) as running:
        yield running


def details(running: Running) -> dict[str, object]:
    """The details of the upstream at `/readyz`."""
    connection = http.client.HTTPConnection("127.0.0.1", running.telemetry, timeout=PATIENCE)
    connection.request("GET", "/readyz")
    with connection.getresponse() as response:
        state: dict[str, object] = json.loads(response.read())["upstreams"]["main"]
    connection.close()
    return state


def metrics(running: Running, name: str) -> list[float]:
    connection = http.client.HTTPConnection("127.0.0.1", running.telemetry, timeout=PATIENCE)
    connection.request("GET", "/metrics")
    with connection.getresponse() as response:
        text = response.read().decode()
    connection.close()
    return [
        float(value)
        for value in re.findall(rf'^{name}{{upstream="main"}} (\S+)$', text, re.MULTILINE)
    ]


def gauges(running: Running) -> dict[str, set[str]]:
    """The targets of `main` that each gauge has, by its name."""
    page = ask(running.telemetry, METRICS).body.decode()
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            if family.type == "gauge" and sample.labels.get("upstream") == "main":
                found.setdefault(sample.name, set()).add(sample.labels.get("target", ""))
    return found


def shown_addresses(running: Running) -> list[str]:
    addresses = details(running)["addresses"]
    assert isinstance(addresses, list)
    return [address.rpartition(":")[0] for address in addresses]


class Callers:
    """Callers who send requests one after another until the block ends, with pauses: they would
    take all processors for as long as the test waits for something else."""

    def __init__(self, running: Running, count: int = 4) -> None:
        self.statuses: Counter[int] = Counter()
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._call, args=(running.port,)) for _ in range(count)
        ]

    def _call(self, port: int) -> None:
        with Wire(port) as wire:
            while not self._stop.wait(_PAUSE):
                wire.send(chat())
                self.statuses[wire.answer("POST").status] += 1

    def __enter__(self) -> Callers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(20)

    def more(self, count: int) -> None:
        """Wait for so many more responses."""
        goal = self.statuses.total() + count
        until(lambda: self.statuses.total() >= goal, "more responses")


def test_all_addresses_are_used_and_a_changed_answer_is_followed_without_a_loss(
    tmp_path: Path,
) -> None:
    with replicas(4) as servers, dns_server() as names:
        names.records["models.test", "A"] = ["127.0.0.2", "127.0.0.3"]
        resolve = f'resolve: {{every: 1s, server: "{names.address}"}}'
        with serving(tmp_path, servers[0].port, resolve, workers=2) as running:
            until(lambda: shown_addresses(running) == ["127.0.0.2", "127.0.0.3"], "the addresses")
            with Callers(running) as callers:
                callers.more(40)
                assert min(len(server.requests) for server in servers[:2]) > 5
                names.records["models.test", "A"] = ["127.0.0.4", "127.0.0.5"]
                until(lambda: min(len(s.requests) for s in servers[2:]) > 5, "the new addresses")
                questions = names.question_count("models.test")
                until(lambda: names.question_count("models.test") >= questions + 4, "both workers")
                callers.more(10)
                before = [len(server.requests) for server in servers]
                callers.more(40)
                after = [len(server.requests) for server in servers]
            assert before[:2] == after[:2]
            assert callers.statuses.keys() == {200}
            host = f"models.test:{servers[0].port}"
            assert {r.values("host")[0] for s in servers for r in s.requests} == {host}
            assert metrics(running, "modelway_upstream_addresses") == [2.0]


def test_a_failing_dns_server_changes_nothing(tmp_path: Path) -> None:
    with replicas(1) as (server,), dns_server() as names:
        names.records["models.test", "A"] = ["127.0.0.2"]
        names.ttl = 1
        resolve = f'resolve: {{server: "{names.address}"}}'
        with serving(tmp_path, server.port, resolve) as running:
            assert ask(running.port, chat()).status == 200
            names.rcode = dns.rcode.SERVFAIL
            until(lambda: details(running)["last_lookup_error"], "the failure")
            assert ask(running.port, chat()).status == 200
            assert shown_addresses(running) == ["127.0.0.2"]
            until(lambda: metrics(running, "modelway_upstream_lookup_failures_total"), "a count")
            assert running.output().count("cannot be looked up, the last ones stay in use") == 1
            names.rcode = dns.rcode.NOERROR
            until(lambda: not details(running)["last_lookup_error"], "the end of the failure")


def test_an_address_that_refuses_is_passed_over(tmp_path: Path) -> None:
    with replicas(1) as (server,), dns_server() as names:
        names.records["models.test", "A"] = ["127.0.0.2", "127.0.0.9"]
        resolve = f'resolve: {{server: "{names.address}"}}'
        with serving(tmp_path, server.port, resolve) as running:
            until(lambda: len(shown_addresses(running)) == 2, "the addresses")
            assert Counter(ask(running.port, chat()).status for _ in range(60)) == {200: 60}


def test_a_service_is_asked_by_priority_and_has_its_own_ports(tmp_path: Path) -> None:
    with recorder() as first, recorder() as second, dns_server() as names:
        first.speak = second.speak = ANSWER
        names.records["a.test", "A"] = ["127.0.0.1"]
        names.records[SERVICE, "SRV"] = [
            f"1 1 {first.port} a.test.",
            f"2 1 {second.port} a.test.",
        ]
        resolve = f'resolve: {{every: 1s, srv: {SERVICE}, server: "{names.address}"}}'
        with serving(tmp_path, 1, resolve) as running:
            until(lambda: len(shown_addresses(running)) == 2, "the addresses")
            for _ in range(10):
                assert ask(running.port, chat()).status == 200
            assert (len(first.requests), len(second.requests)) == (10, 0)
            names.records[SERVICE, "SRV"] = [f"2 1 {second.port} a.test."]
            until(lambda: len(shown_addresses(running)) == 1, "the other address")
            assert ask(running.port, chat()).status == 200
            assert len(second.requests) == 1


def replace(path: Path, lines: Sequence[str]) -> None:
    """Replace a file by an atomic rename."""
    draft = path.with_suffix(".new")
    draft.write_text("\n".join(lines))
    draft.replace(path)


def test_a_file_of_addresses_is_watched_and_a_broken_one_changes_nothing(tmp_path: Path) -> None:
    with replicas(2) as (first, second):
        file = tmp_path / "addresses.txt"
        replace(file, [f"127.0.0.2:{first.port}"])
        with serving(tmp_path, 1, "resolve: {file: addresses.txt}") as running:
            with Callers(running) as callers:
                callers.more(10)
                assert not second.requests
                replace(file, [f"127.0.0.3:{second.port}"])
                until(lambda: shown_addresses(running) == ["127.0.0.3"], "the other address")
                for lines in ([], ["127.0.0"]):
                    replace(file, lines)
                    until(lambda: details(running)["last_lookup_error"], "the failure")
                    callers.more(10)
                    assert shown_addresses(running) == ["127.0.0.3"]
                    replace(file, [f"127.0.0.3:{second.port}"])
                    until(lambda: not details(running)["last_lookup_error"], "the whole file")
            assert callers.statuses.keys() == {200}
            assert "addresses.txt has no address" in running.output()


def test_gauges_of_an_address_leave_with_it_and_have_one_name_for_it(tmp_path: Path) -> None:
    with replicas(3) as servers:
        file = tmp_path / "addresses.txt"
        lines = [f"127.0.0.{2 + number}:{server.port}" for number, server in enumerate(servers)]
        replace(file, lines)
        resolve = "resolve: {file: addresses.txt}"
        with serving(tmp_path, 1, resolve, workers=2, models=FEW) as running:

            def shown(addresses: list[str], model: str = "few") -> bool:
                ask(running.port, chat(model=model))
                found, targets = gauges(running), {f"few/{address}" for address in addresses}
                return all(found.get(f"modelway_{name}", set()) == targets for name in OF_TARGETS)

            for addresses in (lines, lines[:2], [lines[2]], lines):
                replace(file, addresses)
                until(partial(shown, addresses), f"the gauges of {addresses}")
            config = tmp_path / "gateway.yaml"
            replace(config, config.read_text().replace(FEW, "").splitlines())
            running.process.send_signal(signal.SIGHUP)
            until(lambda: shown([], "two"), "the gauges of no target")
            page = ask(running.telemetry, METRICS).body.decode()
    assert re.search(r'^modelway_requests_total{model="few",', page, re.MULTILINE)


def test_a_file_of_addresses_is_used_if_the_url_has_an_ip_address(tmp_path: Path) -> None:
    with replicas(1) as (replica,):
        replace(tmp_path / "addresses.txt", [f"127.0.0.2:{replica.port}"])
        resolve = "resolve: {file: addresses.txt}"
        with serving(tmp_path, 1, resolve, host="127.0.0.1") as running:
            assert ask(running.port, chat()).status == 200
            assert shown_addresses(running) == ["127.0.0.2"]


def test_a_stream_on_an_address_that_went_away_runs_to_its_end(tmp_path: Path) -> None:
    over = threading.Event()

    def speak(received: ReceivedRequest, sock: socket.socket) -> None:
        sock.sendall(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
            b'data: {"choices":[{"index":0,"delta":{"content":"w "}}]}\n\n'
        )
        over.wait(60)
        sock.sendall(b"data: [DONE]\n\n")
        sock.shutdown(socket.SHUT_RDWR)

    with replicas(2) as (first, second):
        first.speak = speak
        file = tmp_path / "addresses.txt"
        replace(file, [f"127.0.0.2:{first.port}"])
        resolve = "resolve: {file: addresses.txt}"
        with serving(tmp_path, 1, resolve) as running, Wire(running.port) as wire:
            wire.send(chat(stream=True))
            assert wire.head()[0] == 200
            replace(file, [f"127.0.0.3:{second.port}"])
            until(lambda: shown_addresses(running) == ["127.0.0.3"], "the other address")
            assert ask(running.port, chat()).status == 200
            assert len(second.requests) == 1
            over.set()
            assert b"[DONE]" in b"".join(wire.pieces())


def test_an_answer_that_alternates_and_one_of_a_thousand_addresses_lose_no_request(
    tmp_path: Path,
) -> None:
    with replicas(2) as servers, dns_server() as names:
        names.ttl = 0
        names.records["models.test", "A"] = ["127.0.0.2"]
        keys = f'resolve: {{server: "{names.address}", max_addresses: 2}}'
        with serving(tmp_path, servers[0].port, keys) as running, Callers(running) as callers:
            for host in ("127.0.0.3", "127.0.0.2") * 2:
                names.records["models.test", "A"] = [host]
                until(lambda host=host: shown_addresses(running) == [host], host)
                callers.more(10)
            crowd = [f"127.0.{n // 250 + 1}.{n % 250 + 1}" for n in range(998)]
            names.records["models.test", "A"] = [*crowd, "127.0.0.2", "127.0.0.3"]
            until(lambda: len(shown_addresses(running)) == 2, "two of the thousand")
            assert details(running)["omitted"] == 998
            callers.more(20)
        assert callers.statuses.keys() == {200}
