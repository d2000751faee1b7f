"""Facts about providers of models: the files `engine/providers/NAME.yaml` as values.

A file is read once, when a config names its provider. Read `Provider` first, then
`schemas/provider.schema.json`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from urllib.parse import urlsplit

from msgspec import Struct, field

from engine.source import files
from engine.source.reader import SourceDocument
from engine.source.reader import read as read_yaml
from engine.values.trees import Json, Section
from engine.values.wildcard import matches

CHAT = ("chat",)
MAX_AGE = 120
"""Days after which the prices and models of a provider are old."""
_SUFFIX = ".yaml"
_HOST = re.compile(r"^  url: \"?https?://([^/\":]+)", re.MULTILINE)
_VARIABLE = re.compile(r"\{[a-z_]+\}")


class ProviderModel(Struct, frozen=True):
    """Facts about a model: its `tasks`, the tokens of its `context` and of its longest `output`
    (None: unknown), the media of its `input`, and other `capabilities`.

    `price` has the keys of an entry of `prices`; None: unknown. A `deprecated` model is in no list.
    """

    name: str
    tasks: tuple[str, ...] = CHAT
    context: int | None = None
    output: int | None = None
    input: tuple[str, ...] = ("text",)
    capabilities: tuple[str, ...] = ()
    price: Section | None = None
    deprecated: bool = False


class ProviderVariable(Struct, frozen=True):
    """A variable of a provider's URL. With the `default` "", the config must have a value.

    With `by`, the name of another variable, `values` has the default for each of its values.
    """

    description: str
    default: str = ""
    environment: str = ""
    by: str = ""
    values: Mapping[str, str] = field(default_factory=dict)


class Source(Struct, frozen=True):
    """The page `url` from which the facts `of` a provider are, and the date of reading it."""

    of: str
    url: str
    date: str


class CallerChoice(Struct, frozen=True):
    """A way in which a caller chooses more than the model that a request names: a `member` of the
    body, by its name or JSON Pointer, in which `*` is any item, or a `model` whose name matches a
    wildcard.

    `chooses` is `model` (names of models, which can be checked), `provider` (who serves the model)
    or `settings` (models or tools, by settings that the gateway does not know). `url` is the page
    that says so, `date` that of reading it.
    """

    chooses: str
    url: str
    date: str
    member: str = ""
    model: str = ""

    @property
    def name(self) -> str:
        """Its name in a config."""
        return self.member or self.model

    @property
    def steps(self) -> tuple[str, ...]:
        """The path of the member."""
        return tuple(self.member.removeprefix("/").split("/"))


class Provider(Struct, frozen=True):
    """A provider. `upstream` has defaults of an entry of `upstreams`, as written in a config.

    `credential` is as in a config, with the name of an environment variable in place of each
    secret; None: it needs none. `date` is that of the models and prices, `currency` that of the
    prices, `batch` the share of them that a request in a batch costs. With `own_names`, operators
    name the models themselves; `models` has facts about some.
    `choices` are what a caller can choose besides the model.
    """

    name: str
    title: str
    documentation: str
    date: date
    sources: tuple[Source, ...]
    upstream: Section
    currency: str = "USD"
    credential: Section | None = None
    other_credentials: tuple[Section, ...] = ()
    variables: Mapping[str, ProviderVariable] = field(default_factory=dict)
    models: Mapping[str, ProviderModel] = field(default_factory=dict)
    own_names: bool = False
    notes: tuple[str, ...] = ()
    unverified: tuple[str, ...] = ()
    choices: tuple[CallerChoice, ...] = ()
    batch: float = 1.0


@cache
def names() -> tuple[str, ...]:
    """The names of all providers, sorted."""
    files_present = files.names_in(files.PROVIDERS)
    return tuple(sorted(n.removesuffix(_SUFFIX) for n in files_present if n.endswith(_SUFFIX)))


def document(name: str) -> SourceDocument:
    """The file of the provider of that name."""
    path = files.PROVIDERS / f"{name}{_SUFFIX}"
    return read_yaml(path.read_text("utf-8"), str(path))


@cache
def read(name: str) -> Provider:
    """The provider of that name, one of `names()`."""
    value = document(name).value
    lists = {key: tuple(value.get(key, ())) for key in ("other_credentials", "notes", "unverified")}
    variables = {n: ProviderVariable(**v) for n, v in value.get("variables", {}).items()}
    return Provider(
        name=name,
        title=value["title"],
        documentation=value["documentation"],
        date=date.fromisoformat(value["date"]),
        sources=tuple(Source(**source) for source in value["sources"]),
        upstream=value["upstream"],
        currency=value.get("currency", "USD"),
        credential=value.get("credential"),
        variables=variables,
        own_names=value.get("own_names", False),
        batch=value.get("batch", {}).get("share", 1.0),
        choices=tuple(CallerChoice(**choice) for choice in value.get("choices", ())),
        models={name: _model(name, values) for name, values in value.get("models", {}).items()},
        **lists,
    )


@cache
def provider_of(name: str, url: str) -> str:
    """The provider of an upstream: the one that it names, else the only one at the host of its
    URL; "" for none."""
    if name:
        return name
    try:
        served = of_host(urlsplit(url).hostname or "")
    except ValueError:  # the check of addresses notes it
        return ""
    return served[0] if len(served) == 1 else ""


@cache
def of_model(model: str) -> tuple[str, ...]:
    """The providers whose files have a model of this name."""
    line = re.compile(rf"^  [\"']?{re.escape(model)}[\"']?:", re.MULTILINE)
    return tuple(name for name, text in _texts().items() if line.search(text))


@cache
def of_family(family: str) -> tuple[str, ...]:
    """The providers whose files have models whose names begin with a word, as `claude`."""
    line = re.compile(rf"^  [\"']?{re.escape(family)}[-0-9][^/:]*:", re.MULTILINE)
    return tuple(name for name, text in _texts().items() if line.search(text))


@cache
def _texts() -> Mapping[str, str]:
    """The text of each provider's file."""
    return {name: (files.PROVIDERS / f"{name}{_SUFFIX}").read_text("utf-8") for name in names()}


def free_texts() -> None:
    """Free the texts of the files, 0.4 MB, which only planning reads."""
    _texts.cache_clear()


@cache
def of_host(host: str) -> tuple[str, ...]:
    """The providers whose URL has this host, in which variables stand for any text."""
    hosts = {name: match[1] for name, text in _texts().items() if (match := _HOST.search(text))}
    patterns = {name: _VARIABLE.sub("*", text) for name, text in hosts.items()}
    return tuple(name for name, text in patterns.items() if text != "*" and matches(host, text))


def _model(name: str, values: Json) -> ProviderModel:
    tuples = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
    return ProviderModel(name, **{**values, **tuples})
