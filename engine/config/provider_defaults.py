"""Completion of an entry of `upstreams` that names a `provider`, from the provider's file.

The law: the entry's keys override the provider's `upstream`; mappings are merged. Variables such as
{region} are substituted first; their values are safe in a host name, a path and a query.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from engine.config import keys, providers
from engine.config.providers import Provider
from engine.source.problem import Findings, Level, Path
from engine.source.reader import SourceDocument
from engine.source.suggestion import did_you_mean
from engine.values.trees import Json, Section, map_leaves, merge

_VARIABLE = re.compile(r"\{([a-z][a-z_]*)\}")
_SAFE = re.compile(r"[A-Za-z0-9._~-]+")
_SECRETS = ("bearer", "value", "password", "secret")
"""The keys of credentials whose value in a provider's file is the name of an environment
variable."""


class CompleteEntry(Struct, frozen=True):
    """An entry completed by its provider: its converted values, the values of all variables, and
    the provider's `transform`, which applies before that of the entry."""

    section: Json
    variables: Mapping[str, str] = field(default_factory=dict)
    transform: Section = field(default_factory=dict)


def complete(
    section: Json, at: Path, source: SourceDocument, findings: Findings
) -> CompleteEntry | None:
    """Complete an entry. None if its provider or a variable is unknown or has no value."""
    if "provider" not in section:
        if "variables" in section:
            message, hint = "'variables' without 'provider'", "name the provider that has them"
            findings.error(source, (*at, "variables"), "MW351", message, hint, key=True)
        return CompleteEntry(section)
    name = section["provider"]
    if name not in providers.names():
        hint = did_you_mean(name, providers.names(), "`modelway providers` lists them")
        message = f"unknown provider '{name}'"
        findings.error(source, (*at, "provider"), "MW350", message, hint)
        return None
    provider = providers.read(name)
    _check_credentials(provider, section, at, source, findings)
    section_values = _provider_values(provider, section)
    settings = section.get("variables", {})
    if not _check_settings(provider, settings, (*at, "variables"), source, findings):
        return None
    variables = variable_values(provider, settings)
    if missing := _missing(section_values, variables, provider):
        for variable in missing:
            _note_missing(provider, variable, (*at, "provider"), source, findings)
        return None
    section_values = _substitute(section_values, variables)
    transform = section_values.pop("transform", {})
    defaults = keys.convert(section_values, keys.find("upstreams.*"))
    return CompleteEntry(merge(defaults, section), variables, transform)


def layer(provider: Provider, section: Mapping[str, object]) -> Json:
    """The provider's values for an entry, as a config would have them. A variable without a value
    stays `{name}`."""
    settings = section.get("variables")
    texts = settings.items() if isinstance(settings, Mapping) else ()
    variables = variable_values(provider, {k: v for k, v in texts if isinstance(v, str)})
    values: Json = _substitute(_provider_values(provider, section), variables)
    return values


def _provider_values(provider: Provider, section: Mapping[str, object]) -> Json:
    """The provider's values for an entry, without `url` if the entry has one."""
    return {k: v for k, v in provider.upstream.items() if k != "url" or k not in section}


def credential_text(credential: Section) -> str:
    """A provider's credential as a config has it: `{bearer: "${GROQ_API_KEY}"}`."""
    parts = []
    for key, value in credential.items():
        if isinstance(value, Mapping):
            text = credential_text(value)
        else:
            text = json.dumps(f"${{{value}}}") if key in _SECRETS else str(value)
        parts.append(f"{key}: {text}")
    return f"{{{', '.join(parts)}}}"


def variable_values(provider: Provider, settings: Mapping[str, str]) -> dict[str, str]:
    """The variables of a provider that have a value: from `settings`, else their default."""
    result = dict(settings)
    for name, variable in provider.variables.items():
        default = variable.values.get(result.get(variable.by, ""), variable.default)
        if name not in result and default:
            result[name] = default
    return {name: _substitute_text(value, result) for name, value in result.items()}


def _missing(
    values: Mapping[str, object], variables: Mapping[str, str], provider: Provider
) -> list[str]:
    """The variables without a value to which a provider's values, or the variables in these, refer,
    sorted."""
    used = set(_VARIABLE.findall(json.dumps(values)))
    for name in list(used):
        used.update(_VARIABLE.findall(variables.get(name, "")))
    return sorted((used & provider.variables.keys()) - variables.keys())


def _check_settings(
    provider: Provider,
    settings: Mapping[str, str],
    at: Path,
    source: SourceDocument,
    findings: Findings,
) -> bool:
    """Whether the provider has the variables of an entry, and their values can be part of a URL."""
    valid = True
    for name, value in settings.items():
        if name not in provider.variables:
            message = f"provider '{provider.name}' has no variable '{name}'"
            hint = did_you_mean(name, provider.variables)
            findings.error(source, (*at, name), "MW351", message, hint, key=True)
        elif _SAFE.fullmatch(value) is None:
            message = f"'{name}' cannot be part of a URL"
            hint = "write letters, digits, '-', '.', '_' and '~' only"
            findings.error(source, (*at, name), "MW351", message, hint)
        else:
            continue
        valid = False
    return valid


def _note_missing(
    provider: Provider, name: str, at: Path, source: SourceDocument, findings: Findings
) -> None:
    variable = provider.variables[name]
    value = f'"${{{variable.environment}}}"' if variable.environment else "..."
    message = f"provider '{provider.name}' needs '{name}', {variable.description}"
    findings.error(source, at, "MW351", message, f"write variables: {{{name}: {value}}}")


def _substitute(value: object, variables: Mapping[str, str]) -> Any:
    """A value of a provider's file with its variables substituted."""
    return map_leaves(
        value,
        lambda _, leaf: _substitute_text(leaf, variables) if isinstance(leaf, str) else leaf,
    )


def _substitute_text(text: str, variables: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda part: variables.get(part[1], part[0]), text)


def _check_credentials(
    provider: Provider,
    section: Section,
    at: Path,
    source: SourceDocument,
    findings: Findings,
) -> None:
    """Note a missing credential, and credentials of a kind that the provider does not accept. An
    entry with a `url` is not checked: its server may need no credential."""
    if provider.credential is None or "url" in section:
        return
    accepted = [provider.credential, *provider.other_credentials]
    forms = " or ".join(map(credential_text, accepted))
    settings: dict[Path, Any] = {
        ("credentials", index): entry for index, entry in enumerate(section.get("credentials", ()))
    }
    if "credential" in section:
        settings["credential",] = section["credential"]
    if not settings:
        message = f"provider '{provider.name}' needs a credential"
        findings.error(source, at, "MW352", message, f"write credential: {forms}", key=True)
    kinds = {_kind(credential) for credential in accepted}
    for place, credential in settings.items():
        kind = _kind(credential)
        if kind not in kinds and not (kind == "oauth2" and "bearer" in kinds):
            message = f"provider '{provider.name}' does not accept this kind of credential"
            hint = f"write credential: {forms}"
            findings.note(source, (*at, *place), Level.WARNING, "MW353", message, hint)


def _kind(credential: Mapping[str, object]) -> str:
    """The kind of a credential, with the name of its header or parameter."""
    for kind in ("header", "query"):
        if kind in credential:
            name = str(credential[kind]).lower()
            return "bearer" if name == "authorization" else f"{kind} {name}"
    return next(iter(credential), "")
