"""`modelway top`: show the activity of a running gateway, live in a terminal.

Read `metrics.py` first, which reads the gateway's `/metrics`; `console/activity/` computes what is
shown, `screen` draws it.
"""

from __future__ import annotations

import json
import sys
import time

import click
from msgspec import to_builtins
from rich.console import Console, RenderableType
from rich.live import Live

from engine.cli.config_file import config_option, read_config
from engine.cli.output import format_option, has_colour, is_terminal
from engine.cli.top.metrics import MetricsSource, MetricsUnavailable, metrics_url
from engine.cli.top.screen import open_keyboard, render
from engine.config.config_files import ConfigFiles
from engine.config.telemetry import OFF
from engine.console.activity.figures import Figures, figures_of
from engine.console.activity.metrics_change import MetricsChange, Snapshot
from engine.source.problem import Findings

_UNBOUNDED = 1_000_000


@click.command()
@config_option
@click.option(
    "--url", metavar="URL", envvar="MODELWAY_METRICS",
    help="The URL of the metrics, like http://10.0.0.5:9464/metrics.  [default: from the config]",
)  # fmt: skip
@click.option(
    "--every", type=click.FloatRange(0.2, 3600), default=2.0, show_default=True, metavar="SECONDS",
    help="Seconds between two updates.",
)  # fmt: skip
@click.option("--once", is_flag=True, help="Measure once, print the result, and exit.")
@format_option(help="With --once: text for people, json for programs.")
def command(
    config: ConfigFiles, url: str | None, every: float, once: bool, output_format: str
) -> None:
    """Show the activity of a running gateway: requests, failures, times, models, upstreams, cost.

    Figures are those of the last update interval, read from the gateway's /metrics. Failed requests
    are failures of the gateway or an upstream; refused ones are the caller's. Times are the median
    and the 95th percentile. q quits.

    \b
    Exit status with --once: 0, or 1 if the metrics cannot be read.
    """
    if output_format == "json" and not once:
        raise click.UsageError("--json needs --once")
    try:
        source = MetricsSource(url or _configured_url(config))
        if once:
            _print_once(source, every, output_format)
        else:
            _show_live(source, every)
    except MetricsUnavailable as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        return


def _configured_url(config: ConfigFiles) -> str:
    """The URL of the metrics of the gateway that the config describes."""
    settings = read_config(config, "use --url", Findings())
    if settings is None:
        raise click.ClickException(f"{config} has errors (see modelway check); use --url")
    telemetry = settings.telemetry
    if not telemetry.metrics:
        raise click.ClickException(f"{config} switches the metrics off (telemetry.metrics)")
    if telemetry.listen == OFF:
        raise click.ClickException(f"{config} serves no metrics (telemetry.listen: off)")
    return metrics_url(telemetry.address or settings.server.listen, telemetry.metrics)


def _print_once(source: MetricsSource, every: float, output_format: str) -> None:
    first = source.read()
    time.sleep(every)
    change = MetricsChange(first, source.read())
    figures = figures_of(change)
    if output_format == "json":
        click.echo(json.dumps({"seconds": change.seconds} | to_builtins(figures), indent=2))
    else:
        _print(render(figures, _title(source, f"in {every:g} s"), None))


def _print(figures: RenderableType) -> None:
    """Print the figures, complete and without colour if standard output is not a terminal."""
    console = Console(
        highlight=False,
        force_terminal=is_terminal(sys.stdout),
        color_system="auto" if has_colour(sys.stdout) else None,
        width=None if is_terminal(sys.stdout) else _UNBOUNDED,
    )
    measured = console.measure(figures)
    console.print(figures, width=measured.maximum, crop=is_terminal(sys.stdout))


def _show_live(source: MetricsSource, every: float) -> None:
    """Update the screen until q is pressed; if the gateway cannot be reached, keep the last
    figures."""
    console = Console(highlight=False)
    if not console.is_terminal or not sys.stdin.isatty():
        raise click.ClickException("standard input and output are not a terminal: use --once")
    snapshot = source.read()
    figures, alert = figures_of(MetricsChange(snapshot, snapshot)), "measuring ..."
    with (
        open_keyboard() as keyboard,
        Live(console=console, screen=True, auto_refresh=False) as live,
    ):
        due = time.monotonic() + min(every, 1.0)
        size = None
        while True:
            if time.monotonic() >= due:
                snapshot, figures, alert = _update(source, snapshot, figures)
                due, size = time.monotonic() + every, None
            if size != console.size:
                size = console.size
                title = _title(source, "q quits")
                live.update(render(figures, title, size.height, alert), refresh=True)
            if keyboard.read_key() in ("q", "Q", "\x03"):
                return


def _update(
    source: MetricsSource, before: Snapshot, figures: Figures
) -> tuple[Snapshot, Figures, str]:
    """The next snapshot, its figures, and ""; or the last ones, and why the metrics cannot be
    read."""
    try:
        now = source.read()
    except MetricsUnavailable as error:
        return before, figures, str(error)
    return now, figures_of(MetricsChange(before, now)), ""


def _title(source: MetricsSource, more: str) -> str:
    return f"modelway top   {source.url}   {time.strftime('%H:%M:%S')}   {more}"
