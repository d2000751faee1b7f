"""`modelway top`: what the gateway does now, live in a terminal."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import click
from rich.console import Console
from rich.live import Live

from engine.cli.show import config_option
from engine.cli.top.change import Change, Look
from engine.cli.top.figures import Figures, figures
from engine.cli.top.keys import keys
from engine.cli.top.screen import screen
from engine.cli.top.source import Refused, Source, url_of
from engine.config.load import load
from engine.config.telemetry import OFF
from engine.source.problem import Findings

_NO_TERMINAL_WIDTH = 120


@click.command()
@config_option
@click.option(
    "--url", metavar="URL", envvar="MODELWAY_METRICS",
    help="Where the metrics are, as http://10.0.0.5:9090/metrics.  [default: as the config says]",
)  # fmt: skip
@click.option(
    "--every", type=click.FloatRange(0.2, 3600), default=2.0, show_default=True, metavar="SECONDS",
    help="How often to look.",
)  # fmt: skip
@click.option("--once", is_flag=True, help="Look twice, print what happened in between, and end.")
def command(config: Path, url: str | None, every: float, once: bool) -> None:
    """Show what a running gateway does: requests, failures, times, models, upstreams, cost.

    Everything is of the time between two looks, read from the gateway's /metrics. A request that
    failed is one that the gateway or an upstream is at fault for; a refused one is the caller's.
    Pairs of times are the median and the 95th percentile. q ends it.

    \b
    Exit status with --once: 0, or 1 when there are no metrics to be had.
    """
    try:
        source = Source(url or _configured(config))
        if once:
            _print(source, every)
        else:
            _show(source, every)
    except Refused as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        return


def _configured(config: Path) -> str:
    """The address of the metrics that the config tells of."""
    try:
        text = config.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise click.ClickException(f"cannot read {config}: {why}; give --url") from error
    read, _ = load(text, str(config), config.parent.resolve(), os.environ, Findings())
    if read is None:
        raise click.ClickException(f"{config} cannot be read (see modelway check); give --url")
    if not read.telemetry.metrics:
        raise click.ClickException(f"{config} switches the metrics off (telemetry.metrics)")
    if read.telemetry.listen == OFF:
        raise click.ClickException(f"{config} serves no metrics (telemetry.listen: off)")
    return url_of(read.telemetry.address or read.server.listen, read.telemetry.metrics)


def _print(source: Source, every: float) -> None:
    first = source.look()
    time.sleep(every)
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, _NO_TERMINAL_WIDTH)
    console.print(
        screen(figures(Change(first, source.look())), _title(source, f"in {every:g} s"), None)
    )


def _show(source: Source, every: float) -> None:
    """Look again and again until somebody presses q; a gateway that is away is waited for."""
    console = Console(highlight=False)
    if not console.is_terminal or not sys.stdin.isatty():
        raise click.ClickException("this is no terminal: use --once")
    before = source.look()
    shown, trouble = figures(Change(before, before)), "measuring ..."
    with keys() as keyboard, Live(console=console, screen=True, auto_refresh=False) as live:
        due = time.monotonic() + min(every, 1.0)
        size = None
        while True:
            if time.monotonic() >= due:
                before, shown, trouble = _again(source, before, shown)
                due, size = time.monotonic() + every, None
            if size != console.size:
                size = console.size
                live.update(
                    screen(shown, _title(source, "q ends"), size.height, trouble), refresh=True
                )
            if keyboard.pressed() in ("q", "Q", "\x03"):
                return


def _again(source: Source, before: Look, shown: Figures) -> tuple[Look, Figures, str]:
    """One more look: what it says, or what was shown before and why there is nothing new."""
    try:
        now = source.look()
    except Refused as error:
        return before, shown, str(error)
    return now, figures(Change(before, now)), ""


def _title(source: Source, more: str) -> str:
    return f"modelway top   {source.url}   {time.strftime('%H:%M:%S')}   {more}"
