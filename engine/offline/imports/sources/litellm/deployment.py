"""One deployment of LiteLLM, a `litellm_params`: a target of a model and its upstream."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from engine.config import providers
from engine.config.providers import Provider
from engine.offline.imports.chat_parameters import number_of
from engine.offline.imports.imported_config import ImportedConfig
from engine.offline.imports.sources.litellm.vocabulary import (
    AWS,
    GUESSES,
    HARMLESS,
    MODELS,
    PROVIDERS,
    ROUTES,
    SUFFIXES,
    WEIGHTS,
    reason_for,
    reference,
)
from engine.source.problem import Path
from engine.values.trees import Json, Section
from engine.values.wildcard import matches

_PART = re.compile(r"\$\{\w+\}|[A-Za-z0-9._~-]+")
_HOST = re.compile(r"[A-Za-z0-9.:@\[\]-]+")
_REGION = re.compile(r"([a-z]{2}(?:-[a-z]+)+-\d)/")
_NAME = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)


class Deployment:
    """A deployment: `parameters` is the `litellm_params` at the path `at`; `general` are the
    sections with defaults, in order of precedence."""

    def __init__(
        self,
        draft: ImportedConfig,
        parameters: Mapping[str, object],
        at: Path,
        general: Iterable[Mapping[str, object]],
    ) -> None:
        self.draft = draft
        self.name = ""
        self.region = ""
        self.general = tuple(general)
        self.parameters = parameters
        self.at = at
        self.imported = {"model", "drop_params", "custom_llm_provider"}

    def provider_and_model(self, model: str, mode: str) -> tuple[str, str]:
        """The provider of Modelway, "" if there is none, and the name of the model there."""
        prefix, slash, rest = model.partition("/")
        explicit = self.parameters.get("custom_llm_provider")
        if isinstance(explicit, str):
            prefix, rest = explicit, model.removeprefix(f"{explicit}/")
        elif not slash:
            guesses = (p for p, names in GUESSES.items() if _any(names, model))
            prefix, rest = next(guesses, "openai" if "api_base" in self.parameters else ""), model
        elif prefix.startswith("ft:"):  # the name of OpenAI's models may contain a slash
            prefix, rest = "openai", model
        provider = PROVIDERS.get(prefix, "")
        for word in ROUTES.get(provider, ()):
            rest = rest.removeprefix(word)
        if not _any(MODELS.get(prefix, "*"), rest) or provider not in providers.names():
            return "", rest
        if provider == "bedrock":
            return self._of_bedrock(rest)
        if provider == "vertex" and rest.startswith("claude"):
            provider = "vertex-claude"
        if provider == "huggingface" and rest.count("/") == 2:  # the provider comes first
            host, _, name = rest.partition("/")
            rest = f"{name}:{host}"
        return provider, rest

    def _of_bedrock(self, model: str) -> tuple[str, str]:
        """A model of Bedrock, whose name may begin with a region; not an agent."""
        if match := _REGION.match(model):
            self.region, model = match[1], model[match.end() :]
        is_model = "/" not in model or model.startswith("arn:")
        return ("bedrock" if is_model else ""), model

    def target(self, provider: str, name: str, model: str) -> Json:
        """The target of a model with this name. Raises ValueError for what cannot be imported."""
        self.name = name
        target: Json = {"upstream": self._upstream(provider)}
        if "*" in model:
            if model != name:
                is_suffix = model == "*" and name.endswith("/*")
                if not is_suffix and not (name == "*" and model == "*"):
                    raise ValueError(f"requests for '{name}' cannot become '{model}'")
                target["model"] = "*"
        elif model and model != name:
            target["model"] = model
        for key in WEIGHTS:
            weight = number_of(self.parameters.get(key))
            self.imported.add(key)
            if weight and "weight" not in target:
                target["weight"] = weight
            if weight and key != "weight":
                self.draft.skip((*self.at, key), reason_for(key, self.name))
        if bound := self._bound():
            target["max_in_flight"] = bound
        return target

    def _bound(self) -> int | None:
        """The largest number of requests in flight; others wait, as in LiteLLM."""
        bound = self._setting("max_parallel_requests", "default_max_parallel_requests")
        return int(bound) if bound is not None and bound >= 1 else None

    def _upstream(self, provider: str) -> str:
        """The name of the upstream; it is added unless an equal one exists."""
        facts = providers.read(provider)
        entry: Json = {"provider": provider}
        base = self._text("api_base") or self._text("base_url")
        if base:
            suffix = SUFFIXES.get(provider, "")
            trimmed = _url(base)
            entry["url"] = trimmed if trimmed.endswith(suffix) else trimmed + suffix
        variables = self._variables(facts.variables, has_url=bool(base))
        if variables:
            entry["variables"] = variables
        credential = self._credential(facts)
        if credential:
            entry["credential"] = credential
        headers = self._headers()
        if headers:
            entry["headers"] = {"set": headers}
        entry |= self._timeouts() | self._failures()
        if self._bound():
            entry["queue"] = {"size": 100}
        line = self.draft.line((*self.at, "model"))
        return self.draft.named(self.draft.upstreams, provider, entry, line)

    def _variables(self, variables: Section, *, has_url: bool) -> dict[str, str]:
        keys = {"api_version": "api_version", "region": "aws_region_name"}
        keys |= {"project": "vertex_project", "location": "vertex_location"}
        texts: dict[str, str] = {}
        for name, variable in variables.items():
            text = self._text(keys.get(name, "")) or (self.region if name == "region" else "")
            if text and not _PART.fullmatch(text):
                raise ValueError(f"'{text}' cannot be a part of a URL")
            if text:
                texts[name] = text
            elif not variable.default and not has_url and variable.environment:
                texts[name] = f"${{{variable.environment}}}"
        return texts

    def _credential(self, provider: Provider) -> Json:
        """The credential in the form of the provider. A secret that is written out becomes a
        variable."""
        if provider.name == "bedrock" and (keys := self._aws_keys()):
            return {"aws": keys}
        form = provider.credential
        key = self._text("api_key")
        if form is None:
            return {"bearer": self._secret(key, provider.name)} if key else {}
        return {
            word: value
            if word in ("header", "query") or not isinstance(value, str)
            else self._secret(key, value)
            for word, value in form.items()
        }

    def _secret(self, key: str, variable: str) -> str:
        name = re.sub(r"\W", "_", variable).upper()
        if not key:
            return f"${{{name}}}"
        if key.startswith("${"):
            return key
        name = self.draft.variable(name if name.endswith("KEY") else f"{name}_API_KEY", key)
        reason = f"it is a literal; set {name} to it"
        self.draft.skip((*self.at, "api_key"), reason, "the value of api_key")
        return f"${{{name}}}"

    def _aws_keys(self) -> dict[str, str]:
        """The name of a profile, which LiteLLM prefers, or the keys of AWS; nothing where one of
        two keys is missing."""
        present = {word: key for key, word in AWS.items() if self.parameters.get(key)}
        if "profile" in present:
            return {"profile": self._text(present["profile"])}
        if not {"access_key", "secret_key"} <= present.keys():
            return {}
        values = {word: self._text(key) for word, key in present.items()}
        for word, key in present.items():
            if not values[word].startswith("${"):
                variable = self.draft.variable(key.upper(), values[word])
                reason = f"it is a literal; set {variable} to it"
                self.draft.skip((*self.at, key), reason, f"the value of {key}")
                values[word] = f"${{{variable}}}"
        return values

    def _headers(self) -> dict[str, str]:
        headers: dict[str, str] = {}
        if organization := self._text("organization"):
            headers["openai-organization"] = organization
        extra = self.parameters.get("extra_headers")
        self.imported.add("extra_headers")
        for name, value in extra.items() if isinstance(extra, dict) else ():
            if _NAME.fullmatch(str(name)):
                headers[str(name).lower()] = reference(str(value))
            else:
                self.draft.skip((*self.at, "extra_headers", name), "it is not a header name")
        return headers

    def _timeouts(self) -> Json:
        total = self._setting("timeout", "request_timeout", "timeout")
        first = self._setting("stream_timeout", "stream_timeout")
        timeouts = {"first_byte": first, "total": total}
        texts = {key: f"{value:g}s" for key, value in timeouts.items() if value}
        return {"timeouts": texts} if texts else {}

    def _failures(self) -> Json:
        entry: Json = {}
        retries = self._setting("num_retries", "num_retries", "max_retries")
        if retries is not None:
            entry["retry"] = {"attempts": max(1, min(int(retries) + 1, 10))}
        self.imported.add("max_retries")
        breaker: Json = {}
        fails = self._setting("allowed_fails", "allowed_fails")
        if fails is not None:
            breaker["failures"] = max(1, int(fails) + 1)
        cooldown = self._setting("cooldown_time", "cooldown_time")
        if cooldown:
            breaker["cooldown"] = f"{cooldown:g}s"
        return entry | ({"breaker": breaker} if breaker else {})

    def _setting(self, key: str, *general: str) -> float | None:
        """The number `key` of this deployment, else one of the `general` keys of the sections."""
        self.imported.add(key)
        places = [(self.parameters, key)]
        places += [(section, name) for section in self.general for name in general]
        numbers = (number_of(section.get(key)) for section, key in places)
        return next((number for number in numbers if number is not None), None)

    def _text(self, key: str) -> str:
        """A value as text with `${VAR}`, "" if it is absent."""
        self.imported.add(key)
        value = self.parameters.get(key)
        return "" if value is None else reference(str(value))

    def note_rest(self) -> None:
        """Note the parameters that were not read."""
        for key in self.parameters:
            if key not in self.imported | HARMLESS:
                self.draft.skip((*self.at, key), reason_for(key, self.name))


def _any(names: str, model: str) -> bool:
    return any(matches(model, pattern) for pattern in names.split())


def _url(text: str) -> str:
    """An `api_base` without a slash at its end. Raises ValueError for one that is not a URL."""
    if text.startswith("${"):
        return text.rstrip("/")
    try:
        url = urlsplit(text)
        if url.scheme in ("http", "https") and _HOST.fullmatch(url.netloc) and not url.query:
            return text.rstrip("/")
    except ValueError:
        pass
    raise ValueError(f"its address '{text}' is not a URL that requests can be sent to")
