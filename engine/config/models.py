"""`models:` of gateway.yaml: the names that callers may request, and their targets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path as FilePath
from typing import Any

from msgspec import Struct, field

from engine.config import keys
from engine.config.keys import default
from engine.config.transforms import TransformConfig, read_transform
from engine.source.problem import Path
from engine.values.trees import Json

STAR = "*"
"""As the model name of a target: the text that the star of the entry's name stands for."""


class Choice(Struct, frozen=True):
    """`choose`: the name of a strategy, its options as written, and their path in the config."""

    strategy: str = "weighted"
    options: Any = None
    at: Path = ()

    @property
    def is_configured(self) -> bool:
        """Whether it differs from the default."""
        return self.strategy != "weighted"

    @property
    def text(self) -> str:
        """The strategy in a line, as in the config: `affinity: $request.header.session-id`."""
        if self.options is None:
            return self.strategy
        return f"{self.strategy}: {_flow(self.options)}"


DEFAULT_CHOICE = Choice()
"""The choice of every entry without `choose`: one object for thousands of entries."""


class TargetConfig(Struct, frozen=True):
    """The name of an upstream, the name of the model there ("": the caller's name; or STAR), the
    weight, and the most requests at one time, None for no limit. Entries share equal targets."""

    upstream: str
    model: str
    weight: float
    transform: tuple[TransformConfig, ...] = ()
    max_in_flight: int | None = None


class RuleConfig(Struct, frozen=True):
    """One of `when` of a model: the requests that meet its `conditions`, as they are written, go to
    the targets `to`, in the order that `choose` says, and then to the models of `fallback`. `at` is
    its path in the config."""

    conditions: Json
    to: tuple[TargetConfig, ...]
    fallback: tuple[str, ...]
    choose: Choice
    at: Path


class MirrorConfig(Struct, frozen=True):
    """`mirror` of a model: copies of `percent` of its requests go to one of the targets `to`, at
    most `max_in_flight` at one time in a worker. `operations` are names or wildcards of those that
    are copied besides the ones that are known to have no side effects. `at` is its path."""

    to: tuple[TargetConfig, ...]
    percent: float
    max_in_flight: int
    operations: tuple[str, ...]
    at: Path


class Model(Struct, frozen=True):
    """A name or wildcard that callers may request. `operations` are names or wildcards over
    `spec.operationId`; empty: all operations of its upstreams' dialects. `translate` is "strict",
    "lossy" or "off"; `drop` are wildcards over fields that a translation may drop.
    `tokenizer` is the path of the file that counts its tokens, "" for none. `when` are the rules
    that send some requests elsewhere than to the targets `to`; the first that is met decides.
    `mirror` is where copies of requests go, None for nowhere."""

    name: str
    to: tuple[TargetConfig, ...]
    fallback: tuple[str, ...]
    title: str
    owner: str
    created: int
    operations: tuple[str, ...] = ()
    translate: str = "strict"
    drop: tuple[str, ...] = ()
    transform: tuple[TransformConfig, ...] = ()
    choose: Choice = field(default_factory=Choice)
    tokenizer: str = ""
    when: tuple[RuleConfig, ...] = ()
    mirror: MirrorConfig | None = None

    @property
    def at(self) -> Path:
        """Its path in the config."""
        return ("models", self.name)

    @property
    def branches(self) -> tuple[Model | RuleConfig, ...]:
        """What decides on the answer to a request: the model itself, then its rules."""
        return (self, *self.when)

    @property
    def answering(self) -> tuple[TargetConfig, ...]:
        """The targets of all its requests: its own, then those of its rules."""
        if not self.when:
            return self.to
        return tuple(target for branch in self.branches for target in branch.to)

    @property
    def targets(self) -> tuple[TargetConfig, ...]:
        """The same, then those of its mirror."""
        return self.answering if self.mirror is None else (*self.answering, *self.mirror.to)

    @property
    def fallbacks(self) -> tuple[str, ...]:
        """The models that requests fall back to: its own, then those of its rules."""
        return tuple(name for branch in self.branches for name in branch.fallback)

    @property
    def choices(self) -> tuple[Choice, ...]:
        """How targets are chosen: its own, then those of its rules."""
        return tuple(branch.choose for branch in self.branches)

    @property
    def placed_targets(self) -> Iterator[tuple[Path, TargetConfig]]:
        """The same, each with its path in the config."""
        for branch in self.branches:
            yield from target_paths(branch.at, branch.to)
        if self.mirror is not None:
            yield from target_paths(self.mirror.at, self.mirror.to)


def target_paths(
    entry: Path, targets: Iterable[TargetConfig]
) -> Iterator[tuple[Path, TargetConfig]]:
    """The targets of the entry at this path, each with its path in the config."""
    for index, target in enumerate(targets):
        yield (*entry, "to", index), target


class TargetReader:
    """Reads lists of targets. Equal lists, and equal targets, are one object each: thousands of
    entries have the same few."""

    def __init__(self) -> None:
        self._targets: dict[tuple[object, ...], TargetConfig] = {}
        self._lists: dict[tuple[int, ...], tuple[TargetConfig, ...]] = {}

    def read(self, entries: list[Json], at: Path) -> tuple[TargetConfig, ...]:
        """The entries of the list `to` under the key at `at`."""
        targets = tuple([self._target(entry, at, index) for index, entry in enumerate(entries)])
        # By identity: a list is kept here with its targets, and equal ones are the same.
        return self._lists.setdefault(tuple(map(id, targets)), targets)

    def _target(self, target: Json, at: Path, index: int) -> TargetConfig:
        weight = target["weight"] if "weight" in target else default("models.*.to.*.weight")
        members = (target["upstream"], target.get("model", ""), weight, target.get("max_in_flight"))
        transform = read_transform(target, (*at, "to", index))
        if not transform and (known := self._targets.get(members)) is not None:
            return known
        upstream, model, weight, max_in_flight = members
        result = TargetConfig(upstream, model, float(weight), transform, max_in_flight)
        return result if transform else self._targets.setdefault(members, result)


def read_model(name: str, section: Json, targets: TargetReader, folder: FilePath) -> Model:
    """An entry of `models:`; `folder` is the config's."""
    values = keys.fill(section, "models.*")
    at: Path = ("models", name)
    return Model(
        name=name,
        to=targets.read(values["to"], at),
        fallback=tuple(values.get("fallback", ())),
        title=values.get("title", name),
        owner=values["owner"],
        created=values["created"],
        operations=tuple(values.get("operations", ())),
        translate=values["translate"],
        drop=tuple(values.get("drop", ())),
        transform=read_transform(values, at),
        choose=read_choice(values, at),
        tokenizer=str(folder / values["tokenizer"]) if "tokenizer" in values else "",
        when=tuple(
            _read_rule(rule, (*at, "when", index), targets)
            for index, rule in enumerate(values.get("when", ()))
        ),
        mirror=_read_mirror(values["mirror"], at, targets) if "mirror" in values else None,
    )


def _read_mirror(section: Json, at: Path, targets: TargetReader) -> MirrorConfig:
    """`mirror` of the model at this path."""
    values, at = keys.fill(section, "models.*.mirror"), (*at, "mirror")
    return MirrorConfig(
        to=targets.read(values["to"], at),
        percent=float(values["percent"]),
        max_in_flight=values["max_in_flight"],
        operations=tuple(values.get("operations", ())),
        at=at,
    )


def _read_rule(section: Json, at: Path, targets: TargetReader) -> RuleConfig:
    """An entry of `when` at this path."""
    values = keys.fill(section, "models.*.when.*")
    return RuleConfig(
        conditions=values["if"],
        to=targets.read(values["to"], at),
        fallback=tuple(values.get("fallback", ())),
        choose=read_choice(values, at),
        at=at,
    )


def _flow(value: object) -> str:
    """Options in YAML's flow style."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {_flow(entry)}' for key, entry in value.items())}}}"
    return str(value)


def read_choice(values: Json, at: Path) -> Choice:
    """`choose` of the entry at `at`: a name, or a mapping of a name to its options."""
    choice = values["choose"]
    if choice == DEFAULT_CHOICE.strategy:
        return DEFAULT_CHOICE
    at = (*at, "choose")
    if isinstance(choice, str):
        return Choice(choice, None, at)
    ((name, options),) = choice.items()
    return Choice(name, options, (*at, name))
