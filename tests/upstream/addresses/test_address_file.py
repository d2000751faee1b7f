"""A file of addresses: its forms, and what happens when it changes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.upstream.addresses.address_file import AddressFile, BrokenFile, Entry, read_entries
from engine.upstream.client.dial_order import Address, Answer, Share
from tests.support.clock import Clock

A, B = Address("10.0.0.1", 8000), Address("10.0.0.2", 8001)

FORMS = [
    ("a.txt", "10.0.0.1:8000\n", [Entry("10.0.0.1", 8000)]),
    ("a.txt", "# ours\n\n 10.0.0.1 # the first\r\n::1\n", [Entry("10.0.0.1"), Entry("::1")]),
    ("a.txt", "\ufeff10.0.0.1:8000\r\n", [Entry("10.0.0.1", 8000)]),
    ("a.txt", "[::1]:80\n[::1]", [Entry("::1", 80), Entry("::1")]),
    ("a.txt", "vllm-0.models:8000\n1-a", [Entry("vllm-0.models", 8000), Entry("1-a")]),
    ("a.json", '["10.0.0.1:8000"]', [Entry("10.0.0.1", 8000)]),
    ("a.yml", "- 10.0.0.1:8000\n- host: ::1\n", [Entry("10.0.0.1", 8000), Entry("::1")]),
    (
        "a.YAML",
        "[{host: a.test, port: 80, weight: 0.5, priority: 2}]",
        [Entry("a.test", 80, 0.5, 2)],
    ),
]

BROKEN = [
    ("a.txt", "", "a.txt has no address"),
    ("a.txt", "# nothing\n", "a.txt has no address"),
    ("a.json", "[]", "a.json has no address"),
    ("a.yaml", "", "a.yaml has no address"),
    (
        "a.txt",
        "10.0.0.1:8000\n10.0.0",
        "a.txt, line 2: '10.0.0' is not an address; write 10.0.0.1:8000",
    ),
    ("a.txt", "10.0.0.1:", "line 1: '10.0.0.1:' is not an address"),
    ("a.txt", "10.0.0.1:0", "line 1: '10.0.0.1:0' is not an address"),
    ("a.txt", "10.0.0.1:65536", "is not an address"),
    ("a.txt", "10.0.0.256", "is not an address"),
    ("a.txt", "[10.0.0.x]:80", "is not an address"),
    ("a.txt", "fe80::1%eth0", "is not an address"),
    ("a.txt", "http://10.0.0.1", "is not an address"),
    ("a.txt", '["10.0.0.1:8000"]', "is not an address"),
    ("a.txt", "x y" * 50, "line 1: 'x yx yx"),
    ("a.json", '["a', "a.json, line 1: not YAML"),
    ("a.yaml", "- a\n- {host: b, host: c}", "a.yaml, line 2: key 'host' is repeated"),
    ("a.yaml", "[" * 9_000 + "]" * 9_000, "a.yaml, line 1: nested too deeply to be read"),
    ("a.json", '{"a": 1}', "a.json is not a list"),
    ("a.json", "[1]", "a.json, entry 1: 1 is not an address"),
    (
        "a.json",
        '[{"address": "a"}]',
        "entry 1: unknown key 'address'; the keys are host, port",
    ),
    ("a.json", "[{}]", "entry 1: {} has no 'host'"),
    ("a.json", '[{"host": 1}]', "entry 1: 1 is not a host name"),
    ("a.json", '[{"host": "a b"}]', "entry 1: 'a b' is not a host name"),
    ("a.json", '[{"host": "a", "port": "80"}]', "port '80', priority 0: write whole numbers"),
    ("a.json", '[{"host": "a", "port": 65536}]', "port 65536, priority 0: write whole numbers"),
    ("a.json", '[{"host": "a", "priority": -1}]', "port 0, priority -1: write whole numbers"),
    ("a.json", '[{"host": "a", "weight": -1}]', "entry 1: -1 is not a weight"),
    ("a.yaml", "[{host: a, weight: .inf}]", "entry 1: inf is not a weight"),
    ("a.yaml", "[{host: a, weight: true}]", "entry 1: True is not a weight"),
    ("a.txt", "10.0.0.1\n" * 200_000, "a.txt is larger than 150000 bytes"),
    ("a.txt", "10.0.0.1\n" * 1001, "a.txt has 1001 addresses, more than 1000"),
]


@pytest.mark.parametrize(("name", "text", "entries"), FORMS)
def test_a_form_is_read(tmp_path: Path, name: str, text: str, entries: list[Entry]) -> None:
    (tmp_path / name).write_text(text)
    assert read_entries(tmp_path / name) == entries


@pytest.mark.parametrize(("name", "text", "message"), BROKEN)
def test_a_broken_file_is_refused_with_its_place(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(BrokenFile) as excinfo:
        read_entries(tmp_path / name)
    assert message in str(excinfo.value)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xff\xfe")
    with pytest.raises(BrokenFile, match="a is not UTF-8"):
        read_entries(tmp_path / "a")


def test_a_device_is_refused() -> None:
    with pytest.raises(BrokenFile, match="null is not a regular file"):
        read_entries(Path("/dev/null"))


def test_a_pipe_is_refused_without_a_wait_for_its_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    # In another process, because nothing can end a read that waits.
    code = "import sys, pathlib; from engine.upstream.addresses.address_file import read_entries"
    command = [sys.executable, "-c", f"{code}; read_entries(pathlib.Path(sys.argv[1]))"]
    process = subprocess.run(
        [*command, tmp_path / "pipe"], capture_output=True, text=True, timeout=60, check=False
    )
    assert process.stderr.splitlines()[-1].endswith("BrokenFile: pipe is not a regular file")


# --- watching


class Watched:
    """A file that is watched, and names that are looked up."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "addresses.txt"
        self.clock = Clock(1000.0)
        self.lookups: list[tuple[str, int]] = []
        self.file = AddressFile(self.path, self.look_up, self.clock)

    def look_up(self, host: str, port: int) -> Answer:
        self.lookups.append((host, port))
        return Answer([Address("10.9.9.1", port), Address("10.9.9.2", port)], 20.0)

    def replace(self, text: str) -> None:
        """Put another file in its place."""
        draft = self.path.with_suffix(".new")
        draft.write_text(text)
        draft.replace(self.path)

    def write(self, text: str, time: int) -> None:
        """Write it in place; `time` is that of the change."""
        with self.path.open("r+") as file:
            file.truncate(0)
            file.write(text)
        os.utime(self.path, ns=(time, time))

    def addresses(self) -> list[Address]:
        return list(self.file.addresses(8000).addresses)


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def test_the_port_is_that_of_the_url_if_the_file_has_none(watched: Watched) -> None:
    watched.replace("10.0.0.1\n10.0.0.2:8001\n")
    assert watched.file.addresses(8000) == Answer([A, B], 1.0, {A: Share(), B: Share()})


def test_a_file_that_is_replaced_is_read_at_once(watched: Watched) -> None:
    watched.replace("10.0.0.1")
    assert watched.addresses() == [A]
    watched.replace("10.0.0.2:8001")
    assert watched.addresses() == [B]


def test_a_file_that_is_written_in_place_is_read_when_it_rests(watched: Watched) -> None:
    watched.replace("10.0.0.1")
    watched.addresses()
    watched.write("10.0.0.2:80", 1)
    assert watched.addresses() == [A]
    watched.write("10.0.0.2:8001", 2)
    assert watched.addresses() == [A]
    assert watched.addresses() == [B]


def test_a_link_to_another_file_is_followed(watched: Watched) -> None:
    for name, text in (("one", "10.0.0.1"), ("two", "10.0.0.2:8001")):
        (watched.path.parent / name).write_text(text)
    watched.path.symlink_to("one")
    assert watched.addresses() == [A]
    draft = watched.path.with_suffix(".new")
    draft.symlink_to("two")
    draft.replace(watched.path)
    assert watched.addresses() == [B]


@pytest.mark.parametrize("text", ["", "10.0.0.1\n???"])
def test_a_broken_file_is_a_failure_until_it_is_mended(watched: Watched, text: str) -> None:
    watched.replace(text)
    for _ in range(2):
        with pytest.raises(BrokenFile, match=r"addresses\.txt"):
            watched.addresses()
    watched.replace("10.0.0.1")
    assert watched.addresses() == [A]


def test_a_missing_file_is_a_failure_until_it_is_there(watched: Watched) -> None:
    with pytest.raises(BrokenFile, match=r"addresses\.txt: No such file or directory"):
        watched.addresses()
    watched.replace("10.0.0.1")
    assert watched.addresses() == [A]
    watched.path.unlink()
    with pytest.raises(BrokenFile):
        watched.addresses()
    watched.replace("10.0.0.1")
    assert watched.addresses() == [A]


def test_a_name_in_the_file_is_looked_up_when_its_answer_is_old(watched: Watched) -> None:
    watched.replace("10.0.0.1\nmodels.test:9000\n")
    first, second = Address("10.9.9.1", 9000), Address("10.9.9.2", 9000)
    for _ in range(2):
        answer = watched.file.addresses(8000)
        assert answer.shares == {A: Share(1.0), first: Share(0.5), second: Share(0.5)}
    assert watched.lookups == [("models.test", 9000)]
    watched.clock.advance(20)
    watched.addresses()
    assert len(watched.lookups) == 2


def test_a_name_that_cannot_be_looked_up_is_named(tmp_path: Path) -> None:
    def unknown(host: str, port: int) -> Answer:
        raise OSError(-2, "Name or service not known")

    (tmp_path / "addresses.txt").write_text("10.0.0.1:8000\ngone.test:8000\n")
    with pytest.raises(BrokenFile, match=r"^addresses.txt: gone.test: Name or service not known$"):
        AddressFile(tmp_path / "addresses.txt", unknown).addresses(80)
