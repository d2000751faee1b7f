"""The command: systems side by side, round by round."""

from __future__ import annotations

import resource
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path

import click

from benchmarks.compare import chats
from benchmarks.compare.alone import crowd, two_workers
from benchmarks.compare.measure import Plan
from benchmarks.compare.page import replaced
from benchmarks.compare.plot import draw
from benchmarks.compare.report import ours_first, report
from benchmarks.compare.run import SYSTEMS, Run, builds
from benchmarks.compare.systems import ours
from benchmarks.compare.upstream import plain

_IMAGE = "![CPU per request and per event, memory per open stream](performance.png)"
_DOCS = Path(__file__).resolve().parents[2] / "docs" / "explanation"
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command()
@click.option("--rounds", default=5, show_default=True, help="Alternating rounds.")
@click.option("--seconds", default=5.0, show_default=True, help="Of each load.")
@click.option("--streams", default=500, show_default=True, help="Held open at once, each system.")
@click.option(
    "--crowd", "crowd_size", default=5000, show_default=True, help="Held open at once, ours."
)
@click.option("--only", multiple=True, type=click.Choice(list(SYSTEMS)), help="These systems.")
@click.option("--base", type=_FOLDER, help="A checkout of this gateway to compare with as well.")
@click.option(
    "--python", "pythons", multiple=True, help="The gateway under this interpreter as well."
)
@click.option("--quick", is_flag=True, help="1 round of 2 s, 100 streams; writes no page.")
def main(
    rounds: int,
    seconds: float,
    streams: int,
    crowd_size: int,
    only: tuple[str, ...],
    base: Path | None,
    pythons: tuple[str, ...],
    quick: bool,
) -> None:
    """Measure the gateway beside others, and write docs/explanation/performance.md.

    With --only the page is not written.
    """
    missing = [tool for tool in ("wrk", "gcc") if shutil.which(tool) is None]
    if missing:
        raise click.ClickException(f"install {' and '.join(missing)} (Debian: apt-get install)")
    writes_page = not (quick or only)
    if writes_page and find_spec("matplotlib") is None:
        raise click.ClickException(
            "install matplotlib, which draws the page's figure (pip install)"
        )
    if quick:
        rounds, seconds, streams, crowd_size = 1, 2.0, 100, 500
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory(prefix="compare-") as name, plain(Path(name)) as upstream:
        plan = Plan(seconds, streams, chats.write(Path(name)), chats.large())
        run = Run(Path(name), upstream, plan, rounds)
        systems = {name: SYSTEMS[name] for name in only or SYSTEMS}
        run.prepare({**systems, **builds(base, pythons)})
        run.measure()
        run.measure_mixed()
        run.measure_over_tls()
        results = run.results
        if ours.NAME in systems:
            click.echo(f"{ours.NAME}: {crowd_size} streams, two workers")
            alone = [system for system in results.systems if system.name == ours.NAME]
            results.crowd = crowd(alone[0], upstream, plan, crowd_size)
            results.scaling = two_workers(Path(name), upstream, plan, rounds)
    text = report(results, seconds, streams)
    click.echo(text)
    if writes_page:
        page = _DOCS / "performance.md"
        page.write_text(replaced(page.read_text(), f"{text}\n\n{_IMAGE}"))
        draw(ours_first(results.rounds), ours.NAME, _DOCS / "performance.png")


if __name__ == "__main__":
    main()
