"""See `benchmarks.empty_machine`."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import click

from benchmarks import empty_machine as package
from benchmarks.empty_machine.machine import ROOT, Machine

_PACKAGES = re.compile(r"`apt-get install ([^`]+)`")
_FIRST_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def packages_of_readme() -> list[str]:
    """What it says that Debian needs."""
    match = _PACKAGES.search((ROOT / "README.md").read_text("utf-8"))
    assert match is not None
    return match[1].split()


def commands_of_readme() -> list[str]:
    """The commands of its first block, without their comments."""
    match = _FIRST_BLOCK.search((ROOT / "README.md").read_text("utf-8"))
    assert match is not None
    return [re.split(r"\s+#\s", line)[0] for line in match[1].splitlines()]


def readme(machine: Machine, tests: str) -> None:
    """What installs needs the network; what serves has a machine of its own."""
    environment, demo, gate = commands_of_readme()
    install, serve = demo.split(" && ")
    machine.run(f"{environment}\n{install}")
    machine.install("curl")
    print(machine.run(f"python -m benchmarks.empty_machine.demo {serve}", alone=True), end="")
    print(machine.run(f"{gate} -- {tests}")[-2500:])


def tutorial(machine: Machine, tests: str) -> None:
    environment, demo, _ = commands_of_readme()
    machine.run(f"{environment}\n{demo.split(' && ')[0]}")
    machine.install("curl")
    print(machine.run("python -m benchmarks.empty_machine.tutorial", alone=True), end="")


def compose(machine: Machine, tests: str) -> None:
    """PostgreSQL, Valkey (where Debian has it, otherwise Redis) and Prometheus from Debian."""
    machine.install("postgresql", "prometheus")
    machine.run("apt-get install -qy valkey-server || apt-get install -qy redis-server")
    machine.run("python3 -m venv /opt/modelway && /opt/modelway/bin/pip install -q .")
    python = "/opt/modelway/bin/python"
    print(machine.run(f"{python} -m benchmarks.empty_machine.compose", alone=True), end="")


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


PARTS: dict[str, Callable[[Machine, str], None]] = {
    "readme": readme,
    "tutorial": tutorial,
    "installers": installers,
    "compose": compose,
}


@click.command(help=package.__doc__)
@click.argument("names", nargs=-1, type=click.Choice(list(PARTS)))
@click.option("--suite", default="trixie", show_default=True, help="The release of Debian.")
@click.option("--tests", default="", help="The tests of the gate; by default all.")
@click.option("--keep", is_flag=True, help="Leave the machine in its folder.")
def main(names: tuple[str, ...], suite: str, tests: str, *, keep: bool) -> None:
    start = time.monotonic()
    machine = Machine(suite)
    try:
        machine.install(*packages_of_readme())
        for name in names or PARTS:
            PARTS[name](machine, tests)
            print(f"{name}: works, {time.monotonic() - start:.0f} s")
    finally:
        if keep:
            print(machine.root)
        else:
            machine.remove()


if __name__ == "__main__":
    main()
