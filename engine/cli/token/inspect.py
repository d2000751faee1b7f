"""`modelway token inspect`: what a JSON Web Token of another issuer says, and what it allows."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import Any

import click

from engine.app.services.bearers import bearers_of, key_sets_of
from engine.callers.jwt.compact_form import unverified
from engine.callers.jwt.refusal import KeysUnavailable, TokenRefused
from engine.cli.config_file import config_option, plan_or_exit
from engine.cli.output import format_option
from engine.config.config_files import ConfigFiles
from engine.plan.plan import Plan
from engine.values.caller import Caller
from engine.values.quota import KINDS, Quota, amount_text, unit_text
from engine.values.quota_window import window_text

_NO_ISSUER = "The config accepts no issuer of tokens: see `callers.jwt`."


@click.command()
@click.argument("file", type=click.File("r", encoding="utf-8", errors="replace"))
@format_option()
@config_option
def command(config: ConfigFiles, file: Any, output_format: str) -> None:
    """Show the claims of the JSON Web Token in FILE (- for standard input), verify it as the
    gateway does, with the keys of its issuer, and show the caller that it makes.

    The token itself is not printed. Exits with 1 for a token that the gateway refuses.
    """
    result = inspect(file.read().strip(), plan_or_exit(config, "nothing is verified"))
    if output_format == "json":
        click.echo(json.dumps(result, indent=2))
    else:
        for section in ("header", "claims", "caller"):
            click.echo(f"{section}:")
            for key, value in result[section].items():
                click.echo(f"  {json.dumps(key)[1:-1]:14} {json.dumps(value)}")
        click.echo(f"refused: {result['refusal']}" if result["refusal"] else "accepted")
    if result["refusal"]:
        raise click.exceptions.Exit(1)


def inspect(secret: str, plan: Plan) -> dict[str, Any]:
    """The header, the claims, the fields of the caller, and why the token is refused or ""."""
    result: dict[str, Any] = {"header": {}, "claims": {}, "caller": {}, "refusal": ""}
    try:
        result["header"], result["claims"] = unverified(secret)
        if not plan.config.jwt:
            raise TokenRefused(_NO_ISSUER)
        caller, _ = bearers_of(plan, key_sets_of(plan.config.jwt), time.time).caller(secret)
        result["caller"] = _fields(caller, plan.config.currency)
    except TokenRefused as refusal:
        result["refusal"] = str(refusal)
    except KeysUnavailable as error:
        result["refusal"] = f"The keys of its issuer cannot be had: {error}"
    return result


def _fields(caller: Caller, currency: str) -> dict[str, Any]:
    """The fields of a caller that are set."""
    expires = caller.expires
    fields = {
        "name": caller.name,
        "team": caller.team or None,
        "teams": [team.name for team in caller.teams] or None,
        "models": caller.models,
        "operations": caller.operations,
        "ips": caller.ips,
        "priority": caller.priority or None,
        "limits": [_limit(limit, currency) for limit in caller.limits] or None,
        "expires": expires and datetime.fromtimestamp(expires, UTC).isoformat(timespec="seconds"),
    }
    return {name: value for name, value in fields.items() if value is not None}


def _limit(quota: Quota, currency: str) -> str:
    kind = KINDS[quota.kind]
    text = f"{amount_text(kind, quota.amount)} {unit_text(kind, currency)}"
    return text if kind.at_one_time else f"{text} / {window_text(quota.window)}"
