"""See `trials.empty_machine`."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TypeVar

import click

from tests.support.blocks import scripts
from trials import empty_machine as package
from trials.empty_machine.booted import BootedMachine
from trials.empty_machine.machine import ROOT, Machine

_PACKAGES = re.compile(r"`apt-get install ([^`]+)`")


def packages_of_readme() -> list[str]:
    """What it says that Debian needs."""
    match = _PACKAGES.search((ROOT / "README.md").read_text("utf-8"))
    assert match is not None
    return match[1].split()


def commands_of_readme() -> list[str]:
    """The commands of its first block, without their comments."""
    first = scripts(ROOT / "README.md")[0]
    return [re.split(r"\s+#\s", line)[0] for line in first.splitlines()]


def readme(machine: Machine, tests: str) -> None:
    """As a plain user. What installs needs the network; what serves has a machine of its own."""
    environment, demo, gate = commands_of_readme()
    install, serve = demo.split(" && ")
    machine.run(f"{environment}\n{install}", user="stranger")
    machine.install("curl")
    command = f"python -m trials.empty_machine.demo {serve}"
    print(machine.run(command, user="stranger", alone=True), end="")
    start = time.monotonic()
    print(summary(machine.run(f"{gate} -- {tests}", user="stranger")))
    print(f"the gate takes {time.monotonic() - start:.0f} s")


def summary(output: str) -> str:
    """The lines of pytest's summary, the tests that are skipped for one reason as one."""
    reasons: Counter[str] = Counter()
    for count, reason in re.findall(r"^SKIPPED \[(\d+)\] \S+ (.*)$", output, re.MULTILINE):
        reasons[reason] += int(count)
    skipped = [f"{count:5} skipped: {reason}" for reason, count in reasons.most_common()]
    return "\n".join([*skipped, *re.findall(r"^=+ .*passed.* =+$", output, re.MULTILINE)])


def tutorial(machine: Machine, tests: str) -> None:
    environment, demo, _ = commands_of_readme()
    machine.run(f"{environment}\n{demo.split(' && ')[0]}")
    machine.install("curl")
    print(machine.run("python -m trials.empty_machine.tutorial", alone=True), end="")


def installers(machine: Machine, tests: str) -> None:
    """pipx of Debian and uv of PyPI, of the folder and of what a release has."""
    machine.install("pipx")
    machine.run("python3 -m venv /tmp/tools && /tmp/tools/bin/pip install -q uv build")
    machine.run("/tmp/tools/bin/python -m build -o /tmp/dist .")
    for source in (".", "/tmp/dist/*.whl", "/tmp/dist/*.tar.gz"):
        for tool in ("pipx", "/tmp/tools/bin/uv tool"):
            version = machine.run(
                f"{tool} install {source} >/tmp/log 2>&1 || cat /tmp/log; cd / && "
                f"~/.local/bin/modelway version && {tool} uninstall modelway >/dev/null 2>&1"
            )
            print(f"{tool.rpartition('/')[2]} install {source}: {version.strip()}")


def systemd(machine: BootedMachine, tests: str) -> None:
    """The units as systemd runs them, before and after a reboot."""
    machine.install("curl")
    units = "python3 -m trials.empty_machine.units"
    print(machine.run(f"{units} single"), end="")
    print(f"rebooted in {machine.reboot():.1f} s")
    print(machine.run(f"{units} rebooted && {units} turns"), end="")
    print(f"rebooted in {machine.reboot():.1f} s")
    print(machine.run(f"{units} turned"), end="")


def docker(machine: BootedMachine, tests: str) -> None:
    """deploy/compose.yaml as it is, with stand-ins for the images that it names."""
    machine.install("docker.io docker-cli docker-compose docker-buildx iptables debootstrap")
    print(machine.run("python3 -m trials.empty_machine.docker"), end="")


PARTS: dict[str, Callable[[Machine, str], None]] = {
    "readme": readme,
    "tutorial": tutorial,
    "installers": installers,
}
BOOTED: dict[str, Callable[[BootedMachine, str], None]] = {"systemd": systemd, "docker": docker}


M = TypeVar("M", bound=Machine)


@click.command(help=package.__doc__)
@click.argument("names", nargs=-1, type=click.Choice([*PARTS, *BOOTED]))
@click.option("--suite", default="trixie", show_default=True, help="The release of Debian.")
@click.option("--tests", default="", help="The tests of the gate; by default all.")
@click.option("--keep", is_flag=True, help="Leave the machines in their folders.")
def main(names: tuple[str, ...], suite: str, tests: str, *, keep: bool) -> None:
    def try_out(kind: type[M], parts: Mapping[str, Callable[[M, str], None]]) -> None:
        chosen = [name for name in names or parts if name in parts]
        if not chosen:
            return
        machine = kind()
        try:
            machine.make(suite)
            machine.install(*packages_of_readme())
            for name in chosen:
                start = time.monotonic()
                parts[name](machine, tests)
                print(f"{name}: works, {time.monotonic() - start:.0f} s", flush=True)
        finally:
            machine.leave(keep=keep)

    try_out(Machine, PARTS)
    for name, part in BOOTED.items():
        try_out(BootedMachine, {name: part})


if __name__ == "__main__":
    main()
