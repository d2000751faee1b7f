"""A credential whose variable is not set, so that its default is sent; or a provider's variable
that still has the placeholder of `modelway init --provider`.

Where none of several upstreams has a credential, as in a new project and in CI, one line says so.
"""

from __future__ import annotations

from engine.config.literal_secrets import secret_places
from engine.config.references import defaults_in_use
from engine.config.starter_config import PLACEHOLDER
from engine.offline.check.audit import AuditCase, is_loopback
from engine.source.problem import Level, Path
from engine.source.reader import SourceDocument
from engine.values.units import format_names

_MAX_PLACEHOLDER = 15
"""The longest default that counts as a placeholder; a longer one is a literal secret (MW402)."""
_MAX_NAMED = 8


def check(case: AuditCase) -> None:
    source = case.config.source
    places = [
        path
        for path, _, is_url in secret_places(source.value)
        if not is_url and not _is_local(case, path)
    ]
    of_upstreams = [path for path in places if path[0] == "upstreams"]
    unset = [_unset(case, source, path) for path in of_upstreams]
    names = list(dict.fromkeys(name for each in unset for name in each))
    if all(unset) and len(names) > 1:
        message = f"no upstream has a credential yet: {format_names(names, _MAX_NAMED)} are not set"
        hint = "set those of the upstreams that you use"
        case.findings.note(source, of_upstreams[0], Level.INFO, "MW415", message, hint)
        places = [path for path in places if path[0] != "upstreams"]
    for path in places:
        _check(case, source, path)
    for name, upstream in case.config.upstreams.items():
        for variable in upstream.variables:
            _check_variable(case, source, ("upstreams", name, "variables", variable))


def _unset(case: AuditCase, source: SourceDocument, path: Path) -> list[str]:
    """The variables of a credential that are not set, and have a placeholder."""
    in_use = defaults_in_use(source.reference(path), case.environ)
    return [name for name, default in in_use.items() if len(default) <= _MAX_PLACEHOLDER]


def _is_local(case: AuditCase, path: Path) -> bool:
    """Whether a credential is for an upstream on this machine: local model servers need none."""
    upstream = case.config.upstreams.get(str(path[1])) if path[0] == "upstreams" else None
    return upstream is not None and is_loopback(upstream)


def _check(case: AuditCase, source: SourceDocument, path: Path) -> None:
    for name in _unset(case, source, path):
        subject = f"upstream '{path[1]}'" if path[0] == "upstreams" else "the collector of traces"
        message = f"{name} is not set: {subject} will refuse every request"
        hint = f"set {name}; where no credential is needed, write the value without ${{...}}"
        case.warn(path, "MW415", message, hint)


def _check_variable(case: AuditCase, source: SourceDocument, path: Path) -> None:
    for name, default in defaults_in_use(source.reference(path), case.environ).items():
        if default == PLACEHOLDER:
            message = f"{name} is not set: the address of upstream '{path[1]}' is not complete"
            case.warn(path, "MW415", message, f"set {name}")
