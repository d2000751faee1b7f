"""gateway.yaml for chosen providers, as text: what `modelway init --provider` writes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from engine import dialects
from engine.config.provider_defaults import credential_text
from engine.config.providers import Provider

_MAX_WIDTH = 100
_REFERENCE = re.compile(r'"\$\{([A-Z0-9_]+)\}"')

PLACEHOLDER = "not-set"
"""The default of environment variables in the config, so that it is valid before they are set."""

SPECS = """\
specs:
  openai:    {document: openapi/openai.yaml,    dialect: openai}
  anthropic: {document: openapi/anthropic.yaml, dialect: anthropic}
  gemini:    {document: openapi/gemini.yaml,    dialect: gemini, mount: [/v1beta, /v1, /v1alpha]}
  rerank:    {document: openapi/rerank.yaml,    dialect: openai, mount: [/v1, /v2]}
"""
_HEAD = f"""\
# yaml-language-server: $schema=schemas/gateway.schema.json
#
# Every key is described in schemas/gateway.schema.json; `modelway check` reports problems,
# `modelway routes` lists routes and models, `modelway providers NAME` what a provider has.
version: 1

server:
  listen: "127.0.0.1:8080"

telemetry:
  listen: "127.0.0.1:9464"               # metrics and health; each gateway of a machine has its own

{SPECS}  modelway:  {{document: openapi/modelway.yaml}}

upstreams:                               # `check` warns of a variable that is not set
"""
_CHAT = (
    "openai.createChatCompletion",
    "openai.createResponse",
    "openai.countResponseTokens",
    "anthropic.createMessage",
    "anthropic.countTokens",
)
_OTHERS = {
    "openai.createCompletion": "completion",
    "openai.createEmbedding": "embedding",
    "openai.createImage": "image",
    "openai.createImageEdit": "image",
    "openai.createImageVariation": "image",
    "openai.createTranscription": "transcription",
    "openai.createTranslation": "transcription",
    "openai.createSpeech": "speech",
    "openai.createModeration": "moderation",
    "rerank.rerank": "rerank",
}
"""Operations and their task: a route is written if the dialect of an upstream has the task."""
_GEMINI = """\
    model:
      from: $request.path.model
      also:                              # places in the body that may repeat the name
        - $request.body#/model
        - $request.body#/generateContentRequest/model
        - $request.body#/requests/*/model
"""
_LISTS = """\
  - operations: [openai.listModels, openai.retrieveModel, gemini.listModels, gemini.getModel]
    answer: models                       # the gateway answers itself, from `models`
"""
_USAGE = """\
  - {operation: modelway.getUsage, answer: usage}   # what is left of a caller's limits
  - {operation: modelway.listUsageRequests, answer: usage_requests}   # with stores.records
"""
_TAIL = """\

policies:                                # of every route
  - token_budget: {"tokens": 10000000, "per": 1d}   # model tokens of each caller; more are 429

tokens:                                  # `modelway token new NAME` prints an entry for this list
"""


def starter(providers: Sequence[Provider]) -> str:
    """A config with an upstream for each provider. A single one serves every model name; with
    several, each serves its models under its name: `groq/*`."""
    upstreams = "".join(f"  {line}\n" for provider in providers for line in entry_lines(provider))
    upstreams = _REFERENCE.sub(rf'"${{\1:-{PLACEHOLDER}}}"', upstreams)
    names = [provider.name for provider in providers]
    models = [f'  "{name}/*": {{to: [{{upstream: {name}, model: "*"}}]}}\n' for name in names]
    if len(names) == 1:
        models = [f'  "*": {{to: [{{upstream: {names[0]}}}]}}\n']
    routes = routes_for(providers)
    heading = "models:                                  # names that callers may request\n"
    return f"{_HEAD}{upstreams}\n{heading}{''.join(models)}\nroutes:\n{routes}{_USAGE}{_TAIL}"


def routes_for(providers: Sequence[Provider]) -> str:
    """The entries of `routes` for the models of these providers, and for the lists of models."""
    provider_dialects = [dialects.get(provider.upstream["dialect"]) for provider in providers]
    tasks = {task for dialect in provider_dialects for task in dialect.tasks.values()}
    return "".join((*_routes(tasks), _LISTS))


def entry_lines(provider: Provider) -> list[str]:
    """The entry of a provider under `upstreams`: one line, or several if it would be long."""
    parts = [f"provider: {provider.name}"]
    variables = [
        f'{name}: "${{{variable.environment}}}"'
        for name, variable in provider.variables.items()
        if not variable.default
    ]
    parts += [f"variables: {{{', '.join(variables)}}}"] if variables else []
    if provider.credential is not None:
        parts.append(f"credential: {credential_text(provider.credential)}")
    line = f"{provider.name}: {{{', '.join(parts)}}}"
    return (
        [line] if len(line) < _MAX_WIDTH - 2 else [f"{provider.name}:", *(f"  {p}" for p in parts)]
    )


def _routes(tasks: Collection[str]) -> Iterator[str]:
    """The routes of all chat formats, and of the other operations with one of these tasks."""
    operations = [*_CHAT, *(name for name, task in _OTHERS.items() if task in tasks)]
    yield "  - operations:\n"
    yield from (f"      - {operation}\n" for operation in operations)
    yield "    model: $request.body#/model\n"
    if "realtime" in tasks:
        yield "  - {operation: openai.connectRealtime, model: $request.query.model}\n"
        yield "  - {operation: openai.createRealtimeClientSecret, answer: client_secrets}\n"
    yield "  - {operation: openai.connectResponses, answer: responses}\n"
    names = ["generateContent", "streamGenerateContent", "countTokens"]
    names += ["embedContent", "batchEmbedContents"] if "embedding" in tasks else []
    yield "  - operations:\n"
    yield from (f"      - gemini.{name}\n" for name in names)
    yield _GEMINI
