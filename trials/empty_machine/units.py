"""On the booted machine: docs/how-to/systemd.md and the units that take turns, word for word.

`python -m trials.empty_machine.units PART` is run before and after a reboot. A mock answers in
the place of the vendor. The sections that rolling-restart.md says to add are taken from its file.
"""

from __future__ import annotations

import re
import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.blocks import scripts
from tests.support.crowd import Traffic, traffic
from tests.support.how_to import Page
from tests.support.recording import request
from trials.empty_machine.checks import ask, get, report, shell, until

SINGLE = Path("docs/how-to/systemd.md")
TURNS = Path("docs/how-to/rolling-restart.md")
CONFIG = Path("/etc/modelway/gateway.yaml")
READY = "http://127.0.0.1:9464/readyz"
SECRET = "sk-that-nobody-may-see"
TOKEN = Path("/root/token")
EVENTS = 9
"""What the mock streams, 0.4 s apart: more than `RestartSec`, and than a short timeout below."""


def main() -> None:
    {"single": single, "rebooted": rebooted, "turns": turns, "turned": turned}[sys.argv[1]]()


def single() -> None:
    """The page, then what it promises."""
    install()
    for command in commands_of_table():
        output = shell(command)
        if match := re.search(r"mw-\S+", output):
            TOKEN.write_text(match[0])
    until("ready after a restart", ready, 0.3)
    use_mock()
    report("a request is served", ask_once() == 200)
    secrets()
    hardening()
    wrong_config()
    crashes()
    drain()


def install() -> None:
    folder = Path("my-gateway")
    Page.read(SINGLE.read_text("utf-8")).write(folder)
    shutil.copytree("openapi", folder / "openapi")
    (block,) = scripts(SINGLE)
    start = time.monotonic()
    shell(block)
    report("the page installs it", True, f"in {time.monotonic() - start:.0f} s")
    report("it is ready when `systemctl enable --now` returns", ready(), status())


def commands_of_table() -> list[str]:
    return re.findall(r"^\| `([^`]+)` \|", SINGLE.read_text("utf-8"), re.MULTILINE)


def use_mock() -> None:
    """Another credential, as the page says, and an upstream that is here."""
    Path("/etc/modelway/secrets.env").write_text(f"OPENAI_API_KEY={SECRET}\n")
    shell("systemctl restart modelway")
    mock = f"/opt/modelway/bin/modelway mock --delay 0.4 --credential {SECRET} --config"
    Path("/etc/systemd/system/mock.service").write_text(
        f"[Service]\nEnvironment=OPENAI_API_KEY=x\nExecStart={mock} /src/my-gateway/gateway.yaml\n"
        "[Install]\nWantedBy=multi-user.target\n"
    )
    shell("systemctl enable --now mock")
    edit("provider: openai,", 'provider: openai, url: "http://127.0.0.1:9000/v1",')
    shell("systemctl reload modelway")


def edit(old: str, new: str) -> None:
    text = CONFIG.read_text("utf-8")
    assert old in text
    CONFIG.write_text(text.replace(old, new))


def secrets() -> None:
    """Where other users of the machine can look. The mock's own unit names the secret."""
    seen = shell("systemctl show modelway; systemctl cat modelway; journalctl -u modelway")
    report("no secret in the unit's properties or the journal", SECRET not in seen)
    read = "for f in /proc/[0-9]*/environ /etc/modelway/secrets.env; do cat $f; done 2>/dev/null"
    report(
        "nor where another user can read",
        SECRET not in shell(f"runuser -u nobody -- sh -c '{read}; true'"),
    )
    lines = shell("journalctl -u modelway -o cat")
    report(
        "the journal has the access log",
        '"path":"/v1/chat/completions"' in lines.replace(": ", ":"),
    )


def hardening() -> None:
    *_, text = shell("systemd-analyze security --no-pager --threshold=20 modelway").splitlines()
    report("systemd's own judgement", " OK " in text, text.partition(": ")[2].strip())
    large = ask(TOKEN.read_text(), "gpt-5-mini", user="x" * 5_000_000)[0]
    report("a body of 5 MB is spooled within the sandbox", large in {200, 400}, large)
    killed = shell("journalctl -b | grep -c -e SIGSYS -e status=31 || true").strip()
    report("no system call was forbidden", killed == "0")


def wrong_config() -> None:
    edit("models:", "modells:")
    shell("systemctl reload modelway", fails=True)
    text = shell("journalctl -u modelway -n 20 -o cat")
    report("a wrong config is not loaded", f"{CONFIG}:" in text and ask_once() == 200)
    edit("modells:", "models:")


def crashes() -> None:
    before = workers()
    shell(f"kill -9 {before[0]}")
    until(
        "a killed worker is replaced",
        lambda: before[0] not in workers() and len(workers()) == len(before),
    )
    main = main_pid()
    shell("systemctl kill --kill-whom=main --signal=KILL modelway")
    until("a killed gateway is started again", lambda: main_pid() not in {main, "0"} and ready())
    report("and serves", ask_once() == 200)
    folders = len(list(Path("/dev/shm").glob("modelway-metrics-*")))
    report("what it left in memory is removed", folders == 1, folders)


def drain() -> None:
    """With a timeout in the unit that is shorter than what the requests need."""
    folder = Path("/etc/systemd/system/modelway.service.d")
    folder.mkdir()
    (folder / "short.conf").write_text("[Service]\nTimeoutStopSec=1\n")
    shell("systemctl daemon-reload")
    with streams(8, once=True) as ends:
        time.sleep(1)
        start = time.monotonic()
        shell("systemctl stop modelway")
        seconds = time.monotonic() - start
    report("a stop waits for 8 streams", complete(ends), f"{seconds:.1f} s, {dict(ends)}")
    result = shell("systemctl show --value -p Result modelway").strip()
    report("and ends well", result == "success", result)
    shutil.rmtree(folder)
    shell("systemctl daemon-reload; systemctl start modelway")
    report("it starts again", ask_once() == 200)


def rebooted() -> None:
    until("it serves after a reboot of the machine", lambda: ask_once() == 200, 30)


def turns() -> None:
    """The unit of one gateway gives way to those of two."""
    edit("version: 1\n", f"version: 1\n{sections_of_turns()}")
    prepare, turn, withdraw = scripts_of_turns()
    shell(prepare)
    report("blue is ready when its start returns", ask_once() == 200)
    with streams(40) as ends, load() as counts:
        time.sleep(2)
        shell(turn)
        time.sleep(1)
        shell(turn.replace("green", "x").replace("blue", "green").replace("x", "blue"))
        time.sleep(1)
        refused_turn(turn, withdraw)
    served = {name: len(ids) for name, ids in counts.ids.items()}
    report("no request is lost in two turns", counts.lost == 0 and set(served) == {200}, served)
    report("and no stream", complete(ends), dict(ends))
    shell(turn)


def sections_of_turns() -> str:
    """`server` and `telemetry` of the page's file."""
    text = Page.read(TURNS.read_text("utf-8")).files["gateway.yaml"]
    return text[text.index("server:") : text.index("specs:")]


def scripts_of_turns() -> list[str]:
    """The commands of the page for one machine: prepare, turn, withdraw what does not start."""
    return [script for script in scripts(TURNS) if "systemctl" in script]


def refused_turn(turn: str, withdraw: str) -> None:
    """Green cannot start, as its port for metrics is blue's."""
    file = Path("/etc/modelway/green.env")
    text = file.read_text()
    file.write_text("METRICS_PORT=9464\n")
    shell(turn, fails=True)
    file.write_text(text)
    shell(withdraw)
    left = shell("systemctl list-units --all --plain --no-legend --state=failed,activating")
    report("green is not started again", "modelway@green" not in left, left)
    report(
        "if green does not start, blue goes on",
        shell("systemctl is-active modelway@blue").strip() == "active",
    )


def turned() -> None:
    until("the one that was enabled serves after a reboot", lambda: ask_once() == 200, 30)
    units = shell(
        "systemctl list-units --plain --no-legend --state=active 'modelway@*' | cut -d' ' -f1"
    )
    report("and no other", units.split() == ["modelway@green.service"], units.split())


@contextmanager
def load() -> Iterator[Traffic]:
    with traffic(8080, chat(), callers=4, pause=0.005) as counts:
        yield counts


def chat() -> bytes:
    """A request of `traffic`."""
    body = b'{"model": "gpt-5-mini", "messages": [{"role": "user", "content": "Hello"}]}'
    return request("/v1/chat/completions", body, token=TOKEN.read_text())


@contextmanager
def streams(callers: int, *, once: bool = False) -> Iterator[Counter[str]]:
    """Callers that read one stream after another, or one each; how these ended."""
    ends: Counter[str] = Counter()
    ending = threading.Event()
    words = " ".join(["word"] * EVENTS)

    def call() -> None:
        while not ending.is_set():
            message = [{"role": "user", "content": words}]
            status, text = ask(TOKEN.read_text(), "gpt-5-mini", stream=True, messages=message)
            ends[f"{status}, last {text.rstrip().rpartition(chr(10))[2]}"] += 1
            if once:
                return

    threads = [threading.Thread(target=call) for _ in range(callers)]
    for thread in threads:
        thread.start()
    try:
        yield ends
    finally:
        ending.set()
        for thread in threads:
            thread.join(60)


def complete(ends: Counter[str]) -> bool:
    return set(ends) == {"200, last data: [DONE]"}


def ready() -> bool:
    return get(READY)[0] == 200


def ask_once() -> int:
    return ask(TOKEN.read_text(), "gpt-5-mini")[0]


def status() -> str:
    return shell("systemctl show --value -p StatusText modelway").strip()


def main_pid() -> str:
    return shell("systemctl show --value -p MainPID modelway").strip()


def workers() -> list[str]:
    main = main_pid()
    return Path(f"/proc/{main}/task/{main}/children").read_text().split()


if __name__ == "__main__":
    main()
