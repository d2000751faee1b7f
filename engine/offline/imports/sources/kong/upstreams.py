"""The upstream of a target of `ai-proxy`: its provider, address, variables and credential."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from engine.config import providers
from engine.offline.imports.imported_config import ImportedConfig
from engine.offline.imports.sources.kong.entities import mapping
from engine.source.problem import Path
from engine.values.trees import Json

_PROVIDERS = {
    **{name: name for name in ("openai", "anthropic", "mistral", "cohere", "gemini", "bedrock")},
    **{name: name for name in ("huggingface", "deepseek", "xai", "cerebras", "databricks")},
    **{name: name for name in ("ollama", "vllm")},
    "azure": "azure-deployments",
    "dashscope": "qwen",
}
_FORMATS = {"openai": "vllm", "ollama": "ollama"}
"""Providers of self-hosted models by `llama2_format` and `mistral_format`."""
_OPERATIONS = (
    *("/chat/completions", "/completions", "/embeddings", "/responses", "/messages", "/rerank"),
    *("/images/generations", "/audio/speech", "/audio/transcriptions", "/api/chat"),
)
_CHINA = "https://dashscope.aliyuncs.com/compatible-mode/v1"
_VARIABLES = {
    ("azure_instance",): "resource",
    ("azure_api_version",): "api_version",
    ("gemini", "project_id"): "project",
    ("gemini", "location_id"): "location",
    ("bedrock", "aws_region"): "region",
}
"""Variables of a provider by the place of their option."""
_FETCHED = {"azure_use_managed_identity": "azure", "gcp_use_service_account": "google"}
_KEYS = {
    "azure_client_id": ("azure", "client"),
    "azure_client_secret": ("azure", "secret"),
    "azure_tenant_id": ("azure", "tenant"),
    "aws_access_key_id": ("aws", "access_key"),
    "aws_secret_access_key": ("aws", "secret_key"),
}
ENVIRONMENT = re.compile(r"\$\{\{ *env +\"(\w+)\" *\}\}|\{vault://env/([\w-]+)\}")


def reference(match: re.Match[str]) -> str:
    """A match of ENVIRONMENT as `${VAR}`."""
    return f"${{{variable(match)}}}"


def variable(match: re.Match[str]) -> str:
    """The variable that a match of ENVIRONMENT names."""
    return match[1] or match[2].upper().replace("-", "_")


def filled(value: Any) -> str:
    """A value as text, with its variables as `${VAR}`."""
    return ENVIRONMENT.sub(reference, str(value))


def provider_of(model: Mapping[str, object]) -> str:
    """The provider of Modelway of a `model`, "" if there is none."""
    provider, options = str(model.get("provider")), mapping(model.get("options"))
    hosted = options.get("llama2_format" if provider == "llama2" else "mistral_format")
    if provider == "llama2" or (provider == "mistral" and options.get("upstream_url")):
        return _FORMATS.get(str(hosted), "")
    if provider == "gemini" and mapping(options.get("gemini")).get("project_id"):
        return "vertex"
    name = _PROVIDERS.get(provider, "")
    return name if name in providers.names() else ""


class Upstream:
    """The upstream of a target at the place `at`. `imported` are the options that it has."""

    def __init__(
        self, draft: ImportedConfig, provider: str, target: Mapping[str, object], at: Path
    ) -> None:
        self.draft = draft
        self.facts = providers.read(provider)
        self.options = mapping(mapping(target.get("model")).get("options"))
        self.auth = mapping(target.get("auth"))
        self.at = at
        self.imported: set[tuple[str, ...]] = {
            *(("llama2_format",), ("mistral_format",), ("azure_deployment_id",)),
            *(("upstream_url",), ("dashscope", "international"), ("anthropic_version",)),
        }

    def entry(self) -> Json:
        """The entry under `upstreams`. Raises ValueError for what cannot be a URL."""
        entry: Json = {"provider": self.facts.name}
        if url := self._url():
            entry["url"] = url
        if variables := self._variables(has_url=bool(url)):
            entry["variables"] = variables
        if credential := self._credential():
            entry["credential"] = credential
        version = self.options.get("anthropic_version")
        if version and str(version) != "2023-06-01":
            entry["headers"] = {"set": {"anthropic-version": filled(version)}}
        return entry

    def _url(self) -> str:
        """The address without the path of the operation, "" for that of the provider."""
        if mapping(self.options.get("dashscope")).get("international") is False:
            return _CHINA
        text = filled(self.options.get("upstream_url") or "")
        if not text:
            return ""
        base = next((text.removesuffix(path) for path in _OPERATIONS if text.endswith(path)), text)
        if text.endswith("/api/chat"):
            base = f"{base}/v1"  # Ollama's own API beside that of OpenAI
        try:
            url = urlsplit(base)
        except ValueError as error:
            raise ValueError(f"its upstream_url '{text}' is not a URL") from error
        is_url = url.scheme in ("http", "https") and url.netloc and not url.query
        if not (is_url or base.startswith("${")):
            raise ValueError(f"its upstream_url '{text}' is not a URL that requests can be sent to")
        return base.rstrip("/")

    def _variables(self, *, has_url: bool) -> dict[str, str]:
        """The variables of a provider: those of the options, and of the environment for others
        that it needs."""
        values: dict[str, str] = {}
        for place, name in _VARIABLES.items():
            value: object = self.options
            for step in place:
                value = mapping(value).get(step)
            if value is not None and name in self.facts.variables:
                self.imported.add(place)
                values[name] = filled(value)
        for name, known in self.facts.variables.items():
            if name not in values and not known.default and not has_url and known.environment:
                values[name] = f"${{{known.environment}}}"
        if any(not re.fullmatch(r"[\w.~-]+|\$\{\w+\}", text) for text in values.values()):
            raise ValueError("its options cannot be a part of a URL")
        return values

    def _credential(self) -> Json:
        """The credential in the form of the provider, or the one that `auth` describes."""
        members = {"header_name", "param_name", "param_location"}
        for key, kind in _FETCHED.items():
            if self.auth.get(key) is True:
                credential = {kind: self._fetched(kind)}
                self._note_auth({*members, key, *_KEYS, "header_value", "param_value"})
                return credential
        if self.auth.get("aws_access_key_id"):
            credential = {"aws": self._fetched("aws")}
            self._note_auth({*members, *_KEYS})
            return credential
        key = "header_value" if self.auth.get("header_value") else "param_value"
        self._note_auth({*members, key, *_FETCHED})
        if self.auth.get("param_location") == "body":
            self.draft.skip((*self.at, "auth", "param_location"), "no credential is sent in a body")
            return {}
        return self._key(key)

    def _key(self, key: str) -> Json:
        """The credential with a key. A secret that is written out becomes a variable, another one
        for each secret."""
        form: Mapping[str, object] = self.facts.credential or {}
        name = str(self.auth.get("header_name") or "").lower()
        if name and name not in ("authorization", form.get("header")):
            default = next((v for k, v in form.items() if k in ("bearer", "value")), "API_KEY")
            form = {"header": name, "value": default}
        elif name == "authorization" and "bearer" not in form:
            form = {"bearer": form.get("value", "API_KEY")}
        if not (form and (self.auth.get(key) or self.facts.credential)):
            return {}
        secret = str(self.auth.get(key) or "").removeprefix("Bearer ").strip()
        environment = ENVIRONMENT.fullmatch(secret)
        credential: Json = {}
        for word, value in form.items():
            if word in ("header", "query") or not isinstance(value, str):
                credential[word] = value
            elif environment:
                credential[word] = reference(environment)
            else:
                credential[word] = f"${{{self._secret(value, secret, key)}}}"
        return credential

    def _fetched(self, kind: str) -> dict[str, str]:
        """The options of a credential that is fetched or signs, from the keys of `auth`."""
        options = {}
        for key, (of_kind, name) in _KEYS.items():
            if of_kind == kind and (value := self.auth.get(key)):
                text = str(value)
                is_secret = "secret" in key or "key" in key
                if is_secret and not ENVIRONMENT.fullmatch(text):
                    options[name] = f"${{{self._secret(key.upper(), text, key)}}}"
                else:
                    options[name] = filled(text)
        return options

    def _secret(self, preferred_name: str, secret: str, key: str) -> str:
        """The variable of a secret, which is noted if it is written out."""
        name = self.draft.variable(preferred_name, secret)
        if secret:
            reason = f"it is a literal; set {name} to it"
            self.draft.skip((*self.at, "auth", key), reason, f"the value of {key}")
        return name

    def _note_auth(self, imported: set[str]) -> None:
        for name, value in self.auth.items():
            if name == "allow_override" and value:
                reason = "WARNING, callers' own credentials are never sent to upstreams"
                self.draft.skip((*self.at, "auth", name), reason)
            elif name not in imported and value not in (None, False):
                self.draft.skip((*self.at, "auth", name), "write the credential of the upstream")
