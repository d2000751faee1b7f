"""A run: the systems in turns, round by round, and what they took."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import click

from benchmarks.compare import measure
from benchmarks.compare.load import LoadFailed
from benchmarks.compare.measure import Direct, Plan
from benchmarks.compare.report import Results
from benchmarks.compare.streaming import StreamsFailed
from benchmarks.compare.system import LeftOut, System, Upstream
from benchmarks.compare.systems import floor, litellm, nginx, ours, portkey, tensorzero
from benchmarks.compare.upstream import over_tls

Prepare = Callable[[Path, Upstream], System]
SYSTEMS: dict[str, Prepare] = {
    system.NAME: system.prepare for system in (floor, nginx, ours, tensorzero, portkey, litellm)
}
_FAILURES = (LeftOut, LoadFailed, StreamsFailed)


class Run:
    """Systems in one folder with one upstream. What is found is in `results`."""

    def __init__(self, folder: Path, upstream: Upstream, plan: Plan, rounds: int) -> None:
        self._folder = folder
        self._upstream = upstream
        self._plan = plan
        self._rounds = rounds
        self._prepares: dict[str, Prepare] = {}
        self.results = Results()

    def prepare(self, prepares: Mapping[str, Prepare]) -> None:
        """Add those systems that can be had; the others are noted as left out."""
        for number, (name, prepare) in enumerate(prepares.items()):
            try:
                system = prepare(_new_folder(self._folder / str(number)), self._upstream)
            except LeftOut as error:
                self.results.left_out[name] = str(error)
            else:
                self._prepares[system.name] = prepare
                self.results.systems.append(system)

    def measure(self) -> None:
        """All figures, in turns; a system that fails is left out from there on."""
        systems = list(self.results.systems)
        for number in range(self._rounds):
            base = measure.direct(self._upstream, self._plan)
            for system in in_turn(systems, number):
                click.echo(f"round {number + 1} of {self._rounds}: {system.name}")
                try:
                    figures = self._one_round(system, base)
                except _FAILURES as error:
                    self.results.left_out[system.name] = f"round {number + 1}: {_short(error)}"
                    systems.remove(system)
                else:
                    self.results.rounds.setdefault(system.name, []).append(figures)

    def _one_round(self, system: System, base: Direct) -> dict[str, float]:
        figures = measure.one_round(system, self._plan, base)
        with tempfile.TemporaryDirectory() as empty:
            return {**figures, "start_cold": measure.cold_start(system, self._plan, Path(empty))}

    def measure_mixed(self) -> None:
        """Add what small chats take beside large ones."""
        systems = {system.name: system for system in self.results.systems}
        measured = {name: systems[name] for name in self._measured()}
        self._add("beside chats of 10 MB", measured, partial(measure.mixed, plan=self._plan))

    def measure_over_tls(self) -> None:
        """Add what systems take that ask their upstream over TLS."""
        with over_tls(self._upstream, _new_folder(self._folder / "tls")) as secure:
            systems = {}
            for number, name in enumerate(self._measured()):
                try:
                    folder = _new_folder(self._folder / "tls" / str(number))
                    systems[name] = self._prepares[name](folder, secure)
                except LeftOut as error:
                    self._leave_out(name, "over TLS", error)
            self._add("over TLS", systems, partial(measure.over_tls, plan=self._plan))

    def _measured(self) -> list[str]:
        """The systems that failed in no round."""
        rounds = self.results.rounds
        return [name for name, figures in rounds.items() if len(figures) == self._rounds]

    def _add(
        self,
        what: str,
        systems: dict[str, System],
        measured: Callable[[System], dict[str, float]],
    ) -> None:
        """More figures for the rounds; a system that fails has none of them from there on."""
        for number in range(self._rounds):
            for system in in_turn(list(systems.values()), number):
                click.echo(f"round {number + 1} of {self._rounds}, {what}: {system.name}")
                try:
                    figures = measured(system)
                except _FAILURES as error:
                    self._leave_out(system.name, what, error)
                    del systems[system.name]
                else:
                    rounds = self.results.rounds[system.name]
                    rounds[number] = {**rounds[number], **figures}

    def _leave_out(self, name: str, what: str, error: Exception) -> None:
        self.results.without.append(f"{name} {what}: {_short(error)}")


def in_turn(systems: list[System], number: int) -> list[System]:
    """The order of a round: every second one runs backwards, so that none is always the first."""
    return systems[::-1] if number % 2 else list(systems)


def builds(base: Path | None, pythons: tuple[str, ...]) -> dict[str, Prepare]:
    """The gateway's own builds beside this one: another checkout, and other Pythons."""
    prepares: dict[str, Prepare] = {}
    if base is not None:
        prepares["base"] = partial(ours.prepare, build=ours.base(base))
    for python in pythons:
        prepares[python] = partial(_prepare_under, python=python)
    return prepares


def _prepare_under(folder: Path, upstream: Upstream, python: str) -> System:
    return ours.prepare(folder, upstream, build=ours.under(python))


def _new_folder(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _short(error: Exception) -> str:
    """In one line, without the bars that a table of Markdown is made of."""
    return " ".join(str(error).replace("|", "/").split())[:200]
