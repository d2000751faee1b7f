"""A credential whose variable is not set, so that its default is sent; or a provider's variable
that still has the placeholder of `modelway init --provider`."""

from __future__ import annotations

from engine.config.literal_secrets import secret_places
from engine.config.references import defaults_in_use
from engine.config.starter_config import PLACEHOLDER
from engine.offline.check.audit import AuditCase, is_loopback
from engine.source.problem import Path
from engine.source.reader import SourceDocument

_MAX_PLACEHOLDER = 15
"""The longest default that counts as a placeholder; a longer one is a literal secret (MW402)."""


def check(case: AuditCase) -> None:
    source = case.config.source
    for path, _, is_url in secret_places(source.value):
        if not is_url and not _is_local(case, path):
            _check(case, source, path)
    for name, upstream in case.config.upstreams.items():
        for variable in upstream.variables:
            _check_variable(case, source, ("upstreams", name, "variables", variable))


def _is_local(case: AuditCase, path: Path) -> bool:
    """Whether a credential is for an upstream on this machine: local model servers need none."""
    upstream = case.config.upstreams.get(str(path[1])) if path[0] == "upstreams" else None
    return upstream is not None and is_loopback(upstream)


def _check(case: AuditCase, source: SourceDocument, path: Path) -> None:
    for name, default in defaults_in_use(source.reference(path), case.environ).items():
        if len(default) > _MAX_PLACEHOLDER:
            continue
        subject = f"upstream '{path[1]}'" if path[0] == "upstreams" else "the collector of traces"
        message = f"{name} is not set: {subject} will refuse every request"
        hint = f"set {name}; where no credential is needed, write the value without ${{...}}"
        case.warn(path, "MW415", message, hint)


def _check_variable(case: AuditCase, source: SourceDocument, path: Path) -> None:
    for name, default in defaults_in_use(source.reference(path), case.environ).items():
        if default == PLACEHOLDER:
            message = f"{name} is not set: the address of upstream '{path[1]}' is not complete"
            case.warn(path, "MW415", message, f"set {name}")
