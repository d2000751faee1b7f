"""The command: systems side by side, round by round."""

from __future__ import annotations

import resource
import shutil
import tempfile
from pathlib import Path

import click
import orjson

from benchmarks.chat import CHAT
from benchmarks.compare import measure
from benchmarks.compare.alone import crowd, two_workers
from benchmarks.compare.load import LoadFailed
from benchmarks.compare.measure import Plan, cold_start, direct, one_round
from benchmarks.compare.page import replaced
from benchmarks.compare.plot import draw
from benchmarks.compare.report import Results, ours_first, report
from benchmarks.compare.streaming import StreamsFailed
from benchmarks.compare.system import LeftOut, System, Upstream
from benchmarks.compare.systems import floor, litellm, nginx, ours, tensorzero
from benchmarks.compare.upstream import over_tls, plain

_SYSTEMS = {system.NAME: system.prepare for system in (floor, nginx, ours, tensorzero, litellm)}
_IMAGE = "![CPU per request and per event, memory per open stream](performance.png)"
_DOCS = Path(__file__).resolve().parents[2] / "docs" / "explanation"


@click.command()
@click.option("--rounds", default=5, show_default=True, help="Alternating rounds.")
@click.option("--seconds", default=5.0, show_default=True, help="Of each load.")
@click.option("--streams", default=500, show_default=True, help="Held open at once, each system.")
@click.option(
    "--crowd", "crowd_size", default=5000, show_default=True, help="Held open at once, ours."
)
@click.option("--only", multiple=True, type=click.Choice(list(_SYSTEMS)), help="These systems.")
@click.option("--quick", is_flag=True, help="1 round of 2 s, 100 streams; writes no page.")
def main(
    rounds: int, seconds: float, streams: int, crowd_size: int, only: tuple[str, ...], quick: bool
) -> None:
    """Measure the gateway beside others, and write docs/explanation/performance.md."""
    missing = [tool for tool in ("wrk", "gcc") if shutil.which(tool) is None]
    if missing:
        raise click.ClickException(f"install {' and '.join(missing)} (Debian: apt-get install)")
    if quick:
        rounds, seconds, streams, crowd_size = 1, 2.0, 100, 500
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory(prefix="compare-") as name, plain(Path(name)) as upstream:
        body = Path(name, "body.json")
        chat = {k: v for k, v in CHAT.items() if not k.startswith("stream")}
        body.write_bytes(orjson.dumps(chat))
        results = Results()
        plan = Plan(seconds, streams, body)
        measure_rounds(
            results, prepare_systems(results, Path(name), upstream, only), plan, upstream, rounds
        )
        measure_over_tls(results, Path(name), plan, upstream, rounds)
        if not only or ours.NAME in only:
            click.echo(f"{ours.NAME}: {crowd_size} streams, two workers")
            alone = [system for system in results.systems if system.name == ours.NAME]
            results.crowd = crowd(alone[0], upstream, plan, crowd_size)
            results.scaling = two_workers(Path(name), upstream, plan, rounds)
    text = report(results, seconds, streams)
    click.echo(text)
    if not (quick or only):
        page = _DOCS / "performance.md"
        page.write_text(replaced(page.read_text(), f"{text}\n\n{_IMAGE}"))
        draw(ours_first(results.rounds), ours.NAME, _DOCS / "performance.png")


def prepare_systems(
    results: Results, folder: Path, upstream: Upstream, only: tuple[str, ...]
) -> list[System]:
    """The systems that can be had; the others are noted as left out."""
    for name, prepare in _SYSTEMS.items():
        if only and name not in only:
            continue
        place = folder / name
        place.mkdir()
        try:
            results.systems.append(prepare(place, upstream))
        except LeftOut as error:
            results.left_out[name] = str(error)
    return results.systems


def measure_rounds(
    results: Results, systems: list[System], plan: Plan, upstream: Upstream, rounds: int
) -> None:
    """Measure them in turns; one that fails is left out from there on."""
    for number in range(rounds):
        for system in list(systems):
            click.echo(f"round {number + 1} of {rounds}: {system.name}")
            try:
                figures = one_round(system, plan, direct(upstream, plan))
                if number == 0:
                    with tempfile.TemporaryDirectory() as empty:
                        figures["start_cold"] = cold_start(system, plan, Path(empty))
            except (LeftOut, LoadFailed, StreamsFailed) as error:
                results.left_out[system.name] = f"round {number + 1}: {error}"
                systems.remove(system)
            else:
                results.rounds.setdefault(system.name, []).append(figures)


def measure_over_tls(
    results: Results, folder: Path, plan: Plan, upstream: Upstream, rounds: int
) -> None:
    """Add what systems take that ask their upstream over TLS; those that cannot have no figure."""
    place = folder / "tls"
    place.mkdir()
    with over_tls(upstream, place) as secure:
        systems = {}
        for name in results.rounds:
            (place / name).mkdir()
            try:
                systems[name] = _SYSTEMS[name](place / name, secure)
            except LeftOut as error:
                results.without_tls[name] = str(error)
        for number in range(rounds):
            for name, system in list(systems.items()):
                click.echo(f"round {number + 1} of {rounds}, upstream over TLS: {name}")
                try:
                    figures = measure.over_tls(system, plan)
                except (LeftOut, LoadFailed, StreamsFailed) as error:
                    results.without_tls[name] = " ".join(str(error).split())[:200]
                    del systems[name]
                else:
                    results.rounds[name][number] = {**results.rounds[name][number], **figures}


if __name__ == "__main__":
    main()
