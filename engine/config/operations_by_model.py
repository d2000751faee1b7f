"""The operations of each model, for routing, model lists, pages, `routes` and `explain`.

The law: a model has an operation that is routed by model if its `operations` match it (or are
absent) and one of its targets speaks the operation's dialect. It also has every operation of a
family (chat, embeddings) if its `operations` match one of the family (or are absent) and requests
may be translated for one of its targets. Targets of a fallback count as well, as far as the
`operations` of the fallback allow. Without `operations`, a model has no operation whose path one of
its upstreams is missing; requests for it are translated.

A model that has a chat operation also has the operation that counts its tokens: an upstream that
speaks the dialect counts, or the gateway estimates, if no upstream does or one is missing the path.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from engine.config.model_operation import ModelOperation
from engine.config.models import Model, TargetConfig
from engine.config.upstreams import UpstreamConfig
from engine.values.wildcard import Patterns


class OperationTarget(NamedTuple):
    """A target that accepts an operation of a model. `entry` is the model or fallback that names
    it; `language` is the language into which requests are translated for it, "" for none."""

    entry: str
    target: TargetConfig
    language: str


Counterparts = Mapping[str, Mapping[str, Sequence[str]]]
"""For each language, the languages into which it is translated, itself included, by their dialects,
in the order of preference."""

_NO_LANGUAGES: Counterparts = {}
_NO_SUFFIXES: Mapping[str, str] = {}
_NO_OPERATION = ""
"""A name that no operation has."""


class Kind(NamedTuple):
    """The properties that decide which models have an operation: the dialect, the languages, and
    the indexes of the `operations` lists that match it."""

    dialect: str
    language: str
    counts: str
    allowing: tuple[int, ...]


class _Link(NamedTuple):
    """An entry in a chain of fallbacks: its `operations`, whether requests to it may be translated,
    the dialects of its upstreams, and the languages whose paths an upstream is missing.
    `is_derived`: the `operations` come from the upstreams' paths, not from the config."""

    operations: tuple[str, ...]
    may_translate: bool
    dialects: frozenset[str]
    missing: frozenset[str]
    is_derived: bool


class ModelOperations:
    """The operations of each entry under `models`. `operations` are all that are routed by model,
    in the order of the routes; `path_suffixes` are the path suffixes of languages."""

    def __init__(
        self,
        models: Mapping[str, Model],
        upstreams: Mapping[str, UpstreamConfig],
        operations: Iterable[ModelOperation],
        counterparts: Counterparts = _NO_LANGUAGES,
        path_suffixes: Mapping[str, str] = _NO_SUFFIXES,
    ) -> None:
        self._config_models = models
        self._upstreams = upstreams
        self._path_suffixes = path_suffixes
        self.all = tuple(operations)
        self._configured = frozenset(name for name, model in models.items() if model.operations)
        self._derived: dict[object, tuple[str, ...]] = {}
        self._models = models = {
            name: self._with_derived_operations(model) for name, model in models.items()
        }
        self._counterparts = counterparts
        self._of: dict[int, tuple[ModelOperation, ...]] = {}
        self._patterns = {
            names: Patterns(names) for names in {m.operations for m in models.values()}
        }
        self._kinds = {op.id: self._kind(op) for op in self.all}
        # One operation of each kind represents the others.
        self._examples = {kind: op for op in self.all if (kind := self._kinds[op.id])}
        self._families = {
            (names, language): self._family(names, languages)
            for names in self._patterns
            for language, languages in counterparts.items()
        }
        distinct: dict[_Link, _Link] = {}  # many entries share equal links
        links = ((name, self._link(model)) for name, model in models.items())
        self._links = {name: distinct.setdefault(link, link) for name, link in links}
        self._chains: dict[tuple[_Link, ...], int] = {}
        self._groups: dict[str, int] = {}
        self._served: dict[tuple[int, Kind], bool] = {}

    def _family(
        self, names: tuple[str, ...], languages: Mapping[str, Sequence[str]]
    ) -> list[ModelOperation]:
        """The operations of the family of a language that the `operations` of an entry allow;
        `languages` are those of the family by dialect."""
        return [
            op
            for op in self._examples.values()
            if op.language in languages.get(op.dialect, ()) and self._allows(names, op)
        ]

    def is_of(self, models: Mapping[str, Model], upstreams: Mapping[str, UpstreamConfig]) -> bool:
        """Whether it was made of these mappings, by identity."""
        return self._config_models is models and self._upstreams is upstreams

    def of(self, entry: str) -> tuple[ModelOperation, ...]:
        """The operations of an entry, in the order of the routes."""
        group = self.group(entry)
        if group not in self._of:
            self._of[group] = tuple(op for op in self.all if self.has(entry, op))
        return self._of[group]

    def has(self, entry: str, operation: ModelOperation) -> bool:
        """Whether an entry has an operation."""
        key = self.group(entry), self.kind(operation)
        if key not in self._served:
            chain = tuple(self._links[name] for name in self._chain(entry))
            self._served[key] = self._serves(chain, operation)
        return self._served[key]

    def group(self, entry: str) -> int:
        """A number shared by entries with the same operations: a config may have thousands of
        entries, but few groups."""
        if entry not in self._groups:
            chain = tuple(self._links[name] for name in self._chain(entry))
            self._groups[entry] = self._chains.setdefault(chain, len(self._chains))
        return self._groups[entry]

    def kind(self, operation: ModelOperation) -> Kind:
        """The kind of an operation. Models and targets that accept one operation of a kind accept
        all, translated into the same language."""
        return self._kinds.get(operation.id) or self._kind(operation)

    def dialects(self, entry: str) -> frozenset[str]:
        """The dialects of the targets of an entry, its rules and its mirror, without those of
        fallbacks."""
        mirror = self._models[entry].mirror
        if mirror is None:
            return self._links[entry].dialects
        copied = (self._upstreams[target.upstream].dialect for target in mirror.to)
        return self._links[entry].dialects.union(copied)

    def language(self, entry: str, dialect: str, operation: ModelOperation) -> str | None:
        """The language into which an operation is translated for a target of this entry at an
        upstream of this dialect: "" if it is relayed, None if the target does not accept it.
        """
        return self._language(self._links[entry], dialect, operation)

    def targets(self, entry: str, operation: ModelOperation) -> Iterator[OperationTarget]:
        """The targets that accept an operation of an entry, then those of its fallbacks; within an
        entry, targets that need no translation come first."""
        for name in self._chain(entry):
            yield from self._accepting(name, self._models[name].to, operation)

    def rule_targets(self, entry: str, operation: ModelOperation) -> Iterator[OperationTarget]:
        """The targets of the rules of an entry that accept an operation."""
        for rule in self._models[entry].when:
            yield from self._accepting(entry, rule.to, operation)

    def _accepting(
        self, entry: str, targets: Iterable[TargetConfig], operation: ModelOperation
    ) -> Iterator[OperationTarget]:
        """The targets of an entry that accept an operation, those without a translation first."""
        translated = []
        for target in targets:
            language = self.language(entry, self._upstreams[target.upstream].dialect, operation)
            if language == "":
                yield OperationTarget(entry, target, "")
            elif language is not None:
                translated.append(OperationTarget(entry, target, language))
        yield from translated

    def _serves(self, chain: tuple[_Link, ...], operation: ModelOperation) -> bool:
        if operation.counts and self._is_estimated(chain, operation):
            return True
        names = chain[0].operations
        family = chain[0].may_translate and self._families.get((names, operation.language))
        if not (family or self._allows(names, operation)):
            return False
        return any(
            self._language(link, dialect, operation) is not None
            for link in chain
            for dialect in link.dialects
        )

    def _is_estimated(self, chain: tuple[_Link, ...], operation: ModelOperation) -> bool:
        """Whether the gateway estimates the tokens of requests: the chain serves such requests, and
        no upstream counts them, or one of the first entry is missing the path."""
        missing = self._is_missing(chain[0], operation)
        if not missing and any(self._is_relayed(link, operation) for link in chain):
            return False
        return any(
            self._serves(chain, example)
            for example in self._examples.values()
            if example.language == operation.counts
        )

    def _is_relayed(self, link: _Link, operation: ModelOperation) -> bool:
        """Whether an upstream of an entry speaks the dialect of an operation, and none is missing
        its path."""
        accepted = any(map(operation.accepts_dialect, link.dialects))
        return accepted and not self._is_missing(link, operation)

    def _is_missing(self, link: _Link, operation: ModelOperation) -> bool:
        return link.is_derived and not self._allows(link.operations, operation)

    def _language(self, link: _Link, dialect: str, operation: ModelOperation) -> str | None:
        names, may_translate, _, missing, _ = link
        if operation.accepts_dialect(dialect) and self._allows(names, operation):
            return ""
        if not may_translate:
            return None
        family = self._families.get((names, operation.language), [])
        if names and not family:
            return None
        language_names = [op.language for op in family if op.dialect == dialect] if names else []
        languages = self._counterparts.get(operation.language, {}).get(dialect, ())
        languages = [name for name in languages if name not in missing]
        choices = [name for name in languages if name in (language_names or [name])]
        return next((name for name in choices if name != operation.language), None)

    def _allows(self, names: tuple[str, ...], operation: ModelOperation) -> bool:
        return not names or self._patterns[names].match(operation.id)

    def _kind(self, operation: ModelOperation) -> Kind:
        allowing = (
            index
            for index, names in enumerate(self._patterns)
            if names and self._patterns[names].match(operation.id)
        )
        return Kind(operation.dialect, operation.language, operation.counts, tuple(allowing))

    def _with_derived_operations(self, model: Model) -> Model:
        """The model with the `operations` that all its upstreams have, if the config names none and
        an upstream is missing some."""
        upstreams = [self._upstreams[target.upstream] for target in model.answering]
        if model.operations or not any(upstream.missing_paths for upstream in upstreams):
            return model
        key = tuple((upstream.dialect, upstream.missing_paths) for upstream in upstreams)
        if key not in self._derived:
            names = (op.id for op in self.all if not any(op.is_missing(u) for u in upstreams))
            self._derived[key] = tuple(names) or (_NO_OPERATION,)
        return replace(model, operations=self._derived[key])

    def _link(self, model: Model) -> _Link:
        upstreams = [self._upstreams[target.upstream] for target in model.answering]
        dialects = frozenset(upstream.dialect for upstream in upstreams)
        paths = tuple(path for upstream in upstreams for path in upstream.missing_paths)
        paths = () if model.name in self._configured else paths
        ends = self._path_suffixes.items() if paths else ()
        missing = [name for name, end in ends if end.endswith(paths)]
        return _Link(
            model.operations,
            model.translate != "off",
            dialects,
            frozenset(missing),
            is_derived=bool(model.operations) and model.name not in self._configured,
        )

    def _chain(self, entry: str) -> Iterator[str]:
        """The entry, its fallbacks and theirs, once each."""
        queue, visited = [entry], set()
        while queue:
            name = queue.pop(0)
            if name not in visited:
                visited.add(name)
                yield name
                queue += self._models[name].fallback
