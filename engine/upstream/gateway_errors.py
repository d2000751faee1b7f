"""The gateway's errors for what an upstream did or did not do."""

from __future__ import annotations

import math

from engine.upstream.client.failures import UpstreamFailure
from engine.values.errors import GatewayError


def error_of_failure(failure: UpstreamFailure, again: bool | None = None) -> GatewayError:
    """502 or 504 for an upstream that sent no response, or part of one. `again`: whether the
    caller's SDK should retry; None leaves it to the status."""
    late = failure.kind.endswith("timeout")
    code = "upstream_timeout" if late else "upstream_unreachable"
    if failure.response_started and not late:
        code = "upstream_error"
    return GatewayError(504 if late else 502, code, f"{sentence(failure.words)}.", retry=again)


def credentials_refused(status: str = "") -> GatewayError:
    """502 for a target that refuses the gateway's credentials, which the caller cannot correct."""
    return GatewayError(
        502,
        "upstream_credentials",
        f"The upstream refused this gateway's own credential{status}. "
        "The operator has to mend it; your token is not at fault.",
        retry=False,
    )


def unavailable(wait: float) -> GatewayError:
    """503 while no target may be tried; `wait` seconds until one may."""
    seconds = str(max(1, math.ceil(wait)))
    return GatewayError(
        503,
        "upstream_unavailable",
        f"No upstream can be asked right now. Try again in {seconds} s.",
        headers=[("retry-after", seconds)],
    )


def sentence(words: str) -> str:
    """Words with a capital letter first."""
    return words[:1].upper() + words[1:]
