"""`modelway usage --left`: what is left of every limit, those near their end first."""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import closing

import click
import orjson

from engine.app.services.limit_counters import counters_of
from engine.app.services.telemetry import WorkerTelemetry
from engine.callers.limits.held_limits import HeldLimit, OwnLimits, held_limits, states
from engine.callers.limits.limit_warnings import holder_text, limit_fields
from engine.cli.config_file import plan_or_exit
from engine.cli.database import database_at, location_of
from engine.cli.text_table import Table, print_table
from engine.config.config_files import ConfigFiles
from engine.plan.plan import CannotConnect, Plan
from engine.source.excerpt import printable
from engine.stores.database import tokens
from engine.values.caller import Caller
from engine.values.counters import CountersAway
from engine.values.quota import KINDS, amount_text, unit_text
from engine.values.quota_window import window_text


def show_left(
    config: ConfigFiles, database_url: str | None, token: str, output_format: str
) -> None:
    """Print the limits of tokens, teams and policies, with what is used; of policies those of which
    something is used. `token` selects those of one token, "" all."""
    plan = plan_or_exit(config, "nothing is read")
    callers = [c for c in _callers(plan, config, database_url) if token in ("", c.name)]
    if token and not callers:
        raise click.ClickException(f"there is no token '{token}'")
    limits = sorted(_states(plan, callers, every=not token), key=_share, reverse=True)
    rows = [limit for limit in limits if limit.used or limit.rule.name.startswith(_OWN)]
    if not rows:
        click.echo("no token, team or policy has a limit of which something is used", err=True)
    else:
        _FORMATS[output_format](rows, plan.config.currency)


_OWN = ("token/", "team/")


def _callers(plan: Plan, config: ConfigFiles, database_url: str | None) -> Iterable[Caller]:
    """The callers of the config's tokens, then those of the database."""
    settings = plan.config
    yield from settings.tokens.values()
    if database_url is not None or settings.stores.records is not None:
        with database_at(location_of(config, database_url), create=True) as database:
            for token in tokens.get_all(database):
                if token.revoked is None:
                    caller = token.caller(token.sha256, settings.currency)
                    yield settings.teams.member(caller)


def _states(plan: Plan, callers: Sequence[Caller], *, every: bool) -> list[HeldLimit]:
    """The limits of these callers, and with `every` those of all teams and policies."""
    config = plan.config
    rules = list(dict.fromkeys(rule for route in plan.routes for rule in route.guards.rules))
    names = {
        "model": [*config.models],
        "upstream": [*config.upstreams],
        "route": [route.operation.id for route in plan.routes],
    }
    token_limits = OwnLimits(rules, names["model"])
    if every:
        listed = held_limits(token_limits, callers, config.teams.by_name.values(), rules, names)
    else:
        listed = held_limits(token_limits, callers)
    telemetry = WorkerTelemetry(background=False)
    try:
        with closing(counters_of(config, telemetry)) as counters:
            return list(states(counters, listed))
    except (CannotConnect, CountersAway) as error:
        raise click.ClickException(f"the counters cannot be read: {error}") from error


def _share(limit: HeldLimit) -> float:
    return limit.used / limit.rule.quota.amount


def _text(limits: Sequence[HeldLimit], currency: str) -> None:
    headings = ("OF", "LIMIT", "USED", "LEFT", "SHARE", "RESETS")
    rows = [_row(limit, currency) for limit in limits]
    print_table(Table(headings, rows, frozenset({"USED", "LEFT", "SHARE"})))


def _row(limit: HeldLimit, currency: str) -> tuple[str, ...]:
    quota, kind = limit.rule.quota, KINDS[limit.rule.quota.kind]
    per = f" per {window_text(quota.window)}" if quota.window else ""
    ends = _local(time.time() + limit.reset) if quota.window and limit.used else ""
    return (
        printable(holder_text(limit.rule.by, limit.sharer)),
        f"{amount_text(kind, quota.amount)} {unit_text(kind, currency)}{per}",
        amount_text(kind, limit.used),
        amount_text(kind, max(quota.amount - limit.used, 0)),
        f"{_share(limit):.0%}",
        ends,
    )


def _local(seconds: float) -> str:
    """A time in UTC, to the minute."""
    return time.strftime("%Y-%m-%d %H:%MZ", time.gmtime(seconds))


def _fields(limits: Sequence[HeldLimit], currency: str) -> list[dict[str, object]]:
    now = time.time()
    return [limit_fields(*limit, currency, now) for limit in limits]


def _json(limits: Sequence[HeldLimit], currency: str) -> None:
    document = {"limits": _fields(limits, currency)}
    click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())


def _csv(limits: Sequence[HeldLimit], currency: str) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["of", "kind", "window", "unit", "amount", "used", "left", "resets_at"])
    for limit, row in zip(limits, _fields(limits, currency), strict=True):
        of = printable(holder_text(limit.rule.by, limit.sharer))
        writer.writerow([of, *("" if v is None else v for k, v in row.items() if k != "by")])


_FORMATS = {"text": _text, "json": _json, "csv": _csv}
