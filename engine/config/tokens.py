"""`tokens:` of gateway.yaml: callers by the digest of their secret."""

from __future__ import annotations

from engine.config.guessable_secrets import guess
from engine.config.server import read_networks
from engine.source.problem import Findings, Path, Source
from engine.values import quota, units
from engine.values.caller import Caller
from engine.values.quota import Quota
from engine.values.trees import Json, Section


def required_regions(section: Section) -> tuple[str, ...] | None:
    """The regions of `require`, None if any will do."""
    if "require" not in section:
        return None
    region = section["require"]["region"]
    return (region,) if isinstance(region, str) else tuple(region)


class TokenReader:
    """Reads the entries of `tokens:`; budgets must be in `currency`."""

    def __init__(self, source: Source, findings: Findings, currency: str) -> None:
        self._source = source
        self._findings = findings
        self._currency = currency

    def callers(self, entries: list[Json | None]) -> dict[str, Caller]:
        """The callers by the digest of their secret."""
        tokens: dict[str, Caller] = {}
        names: set[str] = set()
        for index, token in enumerate(entries):
            if token is None:
                continue
            at: Path = ("tokens", index)
            if token["sha256"] in tokens or token["name"] in names:
                key = "sha256" if token["sha256"] in tokens else "name"
                self._error((*at, key), "MW107", f"two tokens have the same {key}")
            names.add(token["name"])
            self._check_secret(token, at)
            tokens[token["sha256"]] = self.caller(token, at)
        return tokens

    def _check_secret(self, token: Section, at: Path) -> None:
        reason = guess(token["sha256"], token["name"])
        if reason:
            message = f"the secret of token '{token['name']}' can be guessed: {reason}"
            hint = "`modelway token new NAME` makes a secret and prints its entry"
            self._error((*at, "sha256"), "MW385", message, hint)

    def caller(self, token: Section, at: Path) -> Caller:
        """The caller that an entry describes."""
        return Caller(
            token["name"],
            models=tuple(token["models"]) if "models" in token else None,
            expires=self._expiry(token.get("expires"), (*at, "expires")),
            operations=tuple(token["operations"]) if "operations" in token else None,
            ips=self._ips(token["ips"], (*at, "ips")) if "ips" in token else None,
            limits=self._limits(token, at),
            team=token.get("team", ""),
            priority=token.get("priority", ""),
            regions=required_regions(token),
        )

    def _ips(self, texts: list[str], at: Path) -> tuple[str, ...]:
        read_networks(texts, at, self._source, self._findings)
        return tuple(texts)

    def _limits(self, token: Section, at: Path) -> tuple[Quota, ...]:
        quotas, warn_at = [], quota.percentages(token.get("warn_at", ()))
        for key in quota.TOKEN_FIELDS:
            try:
                if key in token:
                    quotas.append(quota.token_quota(key, token[key], self._currency, warn_at))
            except ValueError as error:
                self._error((*at, key), "MW104", str(error))
        claims = token.get("claims", {})
        if warn_at and not any(each.window for each in quotas) and not _has_limit(claims):
            message = "'warn_at' has no effect: there is no limit with a window here"
            hint = "add budget, token_budget or rate, or remove 'warn_at'"
            self._error((*at, "warn_at"), "MW515", message, hint)
        return tuple(quotas)

    def _expiry(self, text: str | None, at: Path) -> float | None:
        if text is None:
            return None
        try:
            return units.unix_time(text)
        except ValueError:
            message = f"'{text}' is not a valid date"
            self._error(at, "MW104", message, "write 2027-01-31")
            return None

    def _error(self, at: Path, code: str, message: str, hint: str = "") -> None:
        self._findings.error(self._source, at, code, message, hint)


def _has_limit(claims: Section) -> bool:
    """Whether a limit with a window may come from a claim."""
    return any(key in claims for key, kind in quota.TOKEN_FIELDS.items() if kind != "concurrency")
