"""Lookups by DNS, of a server that a test scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dns.rcode
import pytest

from engine.upstream.addresses import dns_lookup
from engine.upstream.addresses.dns_lookup import DnsLookup, LookupFailed, names_in_hosts
from engine.upstream.client.dial_order import Address, Answer, Share
from tests.support.dns_server import DnsServer, dns_server

NAME = "models.test"
SERVICE = "_http._tcp.models.test"


@pytest.fixture
def server() -> Iterator[DnsServer]:
    with dns_server() as server:
        yield server


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not answered fails soon."""
    monkeypatch.setattr(dns_lookup, "LIFETIME", 0.3)


@pytest.fixture(autouse=True)
def _routes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dns_lookup, "has_route", lambda address: True)


def lookup(server: DnsServer, *, every: float = 30.0, max_hosts: int = 100) -> DnsLookup:
    return DnsLookup(every, max_hosts, ("127.0.0.1", server.port))


def hosts_of(answer: Answer) -> list[str]:
    return [address.host for address in answer.addresses]


def test_all_addresses_of_both_families_are_found(server: DnsServer) -> None:
    server.records[NAME, "A"] = ["10.0.0.1", "10.0.0.2"]
    server.records[NAME, "AAAA"] = ["2001:db8::1"]
    answer = lookup(server).addresses(NAME, 8000)
    assert sorted(answer.addresses) == [
        Address("10.0.0.1", 8000),
        Address("10.0.0.2", 8000),
        Address("2001:db8::1", 8000),
    ]


@pytest.mark.parametrize(("ttl", "seconds"), [(300, 30.0), (7, 7.0), (0, 1.0)])
def test_an_answer_holds_for_its_ttl_within_bounds(
    server: DnsServer, ttl: int, seconds: float
) -> None:
    server.records[NAME, "A"] = ["10.0.0.1"]
    server.ttl = ttl
    assert lookup(server).addresses(NAME, 80).seconds == seconds


def test_no_server_is_asked_more_than_once_a_second(server: DnsServer) -> None:
    server.records[NAME, "A"] = ["10.0.0.1"]
    assert lookup(server, every=0.0).addresses(NAME, 80).seconds == 1.0


def test_an_alias_is_followed(server: DnsServer) -> None:
    server.records[NAME, "CNAME"] = ["real.test."]
    server.records["real.test", "A"] = ["10.0.0.1"]
    assert hosts_of(lookup(server).addresses(NAME, 80)) == ["10.0.0.1"]


def test_a_truncated_answer_is_asked_for_again_by_tcp(server: DnsServer) -> None:
    server.truncates = True
    server.records[NAME, "A"] = [f"10.0.{n}.1" for n in range(100)]
    assert len(lookup(server).addresses(NAME, 80).addresses) == 100
    assert server.questions[NAME, "A", "tcp"] == 1


def test_all_of_a_thousand_addresses_are_found(server: DnsServer) -> None:
    server.records[NAME, "A"] = [f"10.{n // 250}.{n % 250}.1" for n in range(1000)]
    assert len(lookup(server).addresses(NAME, 80).addresses) == 1000


def test_of_many_hosts_of_a_service_the_first_by_priority_and_name_are_looked_up(
    server: DnsServer,
) -> None:
    server.records[SERVICE, "SRV"] = ["2 9 1 a.test.", "1 9 1 c.test.", "1 1 1 b.test."]
    for number, host in enumerate("abc", 1):
        server.records[f"{host}.test", "A"] = [f"10.0.0.{number}"]
    assert hosts_of(lookup(server, max_hosts=2).services(SERVICE)) == ["10.0.0.2", "10.0.0.3"]


def test_an_unknown_name_has_no_address(server: DnsServer) -> None:
    assert lookup(server).addresses("unknown.test", 80).addresses == []


@pytest.mark.parametrize("rcode", [dns.rcode.SERVFAIL, dns.rcode.REFUSED])
def test_a_server_that_fails_is_a_failure(server: DnsServer, rcode: dns.rcode.Rcode) -> None:
    server.rcode = rcode
    with pytest.raises(LookupFailed, match=dns.rcode.to_text(rcode)):
        lookup(server).addresses(NAME, 80)


@pytest.mark.usefixtures("soon")
def test_a_silent_server_is_a_failure(server: DnsServer) -> None:
    server.silent = frozenset({"A", "AAAA"})
    with pytest.raises(LookupFailed, match=r"no DNS server answered within 0\.3 s"):
        lookup(server).addresses(NAME, 80)


@pytest.mark.usefixtures("soon")
def test_a_family_without_an_answer_keeps_its_last_one(server: DnsServer) -> None:
    server.records[NAME, "A"] = ["10.0.0.1"]
    server.records[NAME, "AAAA"] = ["2001:db8::1"]
    names = lookup(server)
    names.addresses(NAME, 80)
    server.records[NAME, "A"] = ["10.0.0.2"]
    server.silent = frozenset({"AAAA"})
    assert set(hosts_of(names.addresses(NAME, 80))) == {"10.0.0.2", "2001:db8::1"}


@pytest.mark.usefixtures("soon")
def test_a_family_that_is_never_answered_is_missing(server: DnsServer) -> None:
    server.records[NAME, "A"] = ["10.0.0.1"]
    server.silent = frozenset({"AAAA"})
    assert hosts_of(lookup(server).addresses(NAME, 80)) == ["10.0.0.1"]


def test_a_family_without_a_route_is_not_asked_for(
    server: DnsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dns_lookup, "has_route", lambda address: ":" not in address.host)
    server.records[NAME, "A"] = ["10.0.0.1"]
    server.records[NAME, "AAAA"] = ["2001:db8::1"]
    assert hosts_of(lookup(server).addresses(NAME, 80)) == ["10.0.0.1"]
    assert server.question_count(NAME, "AAAA") == 0


def test_addresses_of_a_near_network_are_used_if_there_are_no_others(
    server: DnsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    near = "fd00::"
    monkeypatch.setattr(
        *(dns_lookup, "has_route"),
        lambda address: ":" not in address.host or address.host.startswith(near),
    )
    server.records[NAME, "AAAA"] = ["fd00::1", "2001:db8::1"]
    assert hosts_of(lookup(server).addresses(NAME, 80)) == ["fd00::1"]
    server.records[NAME, "A"] = ["10.0.0.1"]
    assert hosts_of(lookup(server).addresses(NAME, 80)) == ["10.0.0.1"]


@pytest.mark.usefixtures("soon")
def test_near_addresses_stay_in_use_without_an_answer(
    server: DnsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dns_lookup, "has_route", lambda address: address.host != "2001:db8::1")
    server.records[NAME, "AAAA"] = ["fd00::1"]
    names = lookup(server)
    names.addresses(NAME, 80)
    server.silent = frozenset({"AAAA"})
    assert hosts_of(names.addresses(NAME, 80)) == ["fd00::1"]


# --- services


def test_a_service_has_hosts_ports_priorities_and_weights(server: DnsServer) -> None:
    server.records[SERVICE, "SRV"] = [
        "0 3 8001 a.test.",
        "0 0 8002 b.test.",
        "9 1 8003 c.test.",
    ]
    server.records["a.test", "A"] = ["10.0.0.1", "10.0.0.2"]
    server.records["b.test", "A"] = ["10.0.0.3"]
    server.records["c.test", "AAAA"] = ["2001:db8::1"]
    assert lookup(server).services(SERVICE).shares == {
        Address("10.0.0.1", 8001): Share(1.5, 0),
        Address("10.0.0.2", 8001): Share(1.5, 0),
        Address("10.0.0.3", 8002): Share(0.1, 0),
        Address("2001:db8::1", 8003): Share(1.0, 9),
    }


def test_addresses_that_are_sent_along_are_not_asked_for(server: DnsServer) -> None:
    server.records[SERVICE, "SRV"] = ["0 1 8001 A.test."]
    server.records["a.test", "A"] = ["10.0.0.1"]
    server.additional = frozenset({"A"})
    assert hosts_of(lookup(server).services(SERVICE)) == ["10.0.0.1"]
    assert server.question_count("a.test") == 0


def test_addresses_that_are_sent_along_are_used_if_their_family_has_a_route(
    server: DnsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dns_lookup, "has_route", lambda address: ":" not in address.host)
    server.records[SERVICE, "SRV"] = ["0 1 8001 a.test."]
    server.records["a.test", "A"] = ["10.0.0.1"]
    server.records["a.test", "AAAA"] = ["2001:db8::1"]
    server.additional = frozenset({"A", "AAAA"})
    assert hosts_of(lookup(server).services(SERVICE)) == ["10.0.0.1"]


def test_a_host_of_a_service_that_went_away_is_left_out(server: DnsServer) -> None:
    server.records[SERVICE, "SRV"] = ["0 1 8001 a.test.", "0 1 8001 gone.test."]
    server.records["a.test", "A"] = ["10.0.0.1"]
    assert hosts_of(lookup(server).services(SERVICE)) == ["10.0.0.1"]


@pytest.mark.usefixtures("soon")
def test_a_host_of_a_service_that_cannot_be_looked_up_is_a_failure(server: DnsServer) -> None:
    server.records[SERVICE, "SRV"] = ["0 1 8001 a.test."]
    server.silent = frozenset({"A", "AAAA"})
    with pytest.raises(LookupFailed, match="no DNS server answered"):
        lookup(server).services(SERVICE)


def test_a_service_that_is_unknown_or_not_offered(server: DnsServer) -> None:
    with pytest.raises(LookupFailed, match=f"there is no service {SERVICE}"):
        lookup(server).services(SERVICE)
    server.records[SERVICE, "SRV"] = ["0 0 0 ."]
    assert lookup(server).services(SERVICE).addresses == []


# --- the system


def system(host: str, port: int) -> Answer:
    return Answer([Address("127.0.0.9", port)], 25.0)


def of_the_system(
    server: DnsServer, monkeypatch: pytest.MonkeyPatch, folder: Path, hosts: str
) -> DnsLookup:
    """A lookup by the configuration of a machine: its resolv.conf and its /etc/hosts."""
    (folder / "hosts").write_text(hosts)
    configuration = folder / "resolv.conf"
    configuration.write_text("nameserver 127.0.0.1\nsearch cluster.test\n")
    monkeypatch.setattr(dns_lookup, "RESOLV_CONF", str(configuration))
    monkeypatch.setattr(dns_lookup, "PORT", server.port)
    return DnsLookup(30.0, 100, system=system, hosts=folder / "hosts")


def test_a_name_of_the_hosts_file_is_left_to_the_system(
    server: DnsServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    names = of_the_system(server, monkeypatch, tmp_path, "10.0.0.1 other Models.test # models\n")
    server.records[NAME, "A"] = ["10.0.0.1"]
    assert names.addresses(NAME, 80) == Answer([Address("127.0.0.9", 80)], 30.0)
    assert server.question_count(NAME) == 0


def test_a_name_that_dns_does_not_know_is_left_to_the_system(
    server: DnsServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    names = of_the_system(server, monkeypatch, tmp_path, "")
    assert hosts_of(names.addresses(NAME, 80)) == ["127.0.0.9"]
    assert server.question_count(NAME) == 1


def test_search_domains_count(
    server: DnsServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    names = of_the_system(server, monkeypatch, tmp_path, "")
    server.records["models.cluster.test", "A"] = ["10.0.0.1"]
    assert hosts_of(names.addresses("models", 80)) == ["10.0.0.1"]


def test_a_machine_without_a_hosts_file_has_no_names_in_it(tmp_path: Path) -> None:
    assert names_in_hosts(tmp_path / "none") == frozenset()
