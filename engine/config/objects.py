"""`objects:` of gateway.yaml: the keys that seal the ids of objects, and whose objects are."""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations

from msgspec import Struct, field

from engine.config import keys
from engine.config.keys import default
from engine.source.problem import Findings, Path, Source
from engine.values.trees import Section

MIN_KEY = 32
"""Characters of a key of the ring."""


class ResponseStorage(Struct, frozen=True):
    """Where responses are kept: `store` is vendor or records, `retention` how long the records keep
    them, in seconds."""

    store: str = default("objects.responses.store")
    retention: float = default("objects.responses.retention")


class BatchRules(Struct, frozen=True):
    """What happens to batches with invalid requests: refuse or report."""

    invalid_requests: str = field(default=default("objects.batches.invalid"), name="invalid")


class FileRules(Struct, frozen=True):
    """What happens to files that live at another upstream than the target of a request: with `copy`
    those of at most `max_size` bytes are copied there, within `timeout` seconds, and the copy is
    remembered for `expires` seconds."""

    copy: bool = default("objects.files.copy")
    max_size: int = default("objects.files.max_size")
    timeout: float = default("objects.files.timeout")
    expires: float = default("objects.files.expires")


class Objects(Struct, frozen=True):
    """The ring of keys, the newest first, without which ids pass as they are. `owner` is token,
    team or all; `legacy` says what happens to ids that are not sealed: refuse or pass."""

    ring: tuple[str, ...] = field(default=(), name="key")
    owner: str = default("objects.owner")
    legacy: str = default("objects.legacy")
    responses: ResponseStorage = field(default_factory=ResponseStorage)
    batches: BatchRules = field(default_factory=BatchRules)
    files: FileRules = field(default_factory=FileRules)

    def __repr__(self) -> str:
        return f"Objects(owner={self.owner!r}, legacy={self.legacy!r})"  # without the keys


def read_objects(
    section: Section, has_records: bool, source: Source, findings: Findings
) -> Objects:
    """`objects:`; a key that can be guessed is noted, and a store that there is not."""
    if not section:
        return Objects()
    values = keys.fill(section, "objects")
    key = values.get("key", ())  # absent: the schema has refused it
    ring = (key,) if isinstance(key, str) else tuple(key)
    for index, text in enumerate(ring):
        at: Path = ("objects", "key") if isinstance(key, str) else ("objects", "key", index)
        if len(text) < MIN_KEY or len(set(text)) < 8:
            message = f"the key has {len(text)} characters, few of them different"
            hint = "write ${OBJECT_KEY}, and make one with: openssl rand -hex 32"
            findings.error(source, at, "MW104", message, hint)
        elif text in ring[:index]:
            findings.error(source, at, "MW104", "the ring has this key twice", "remove this one")
    responses = ResponseStorage(**values.get("responses", {}))
    if responses.store == "records" and not has_records:
        at = ("objects", "responses", "store")
        hint = "write stores: {records: sqlite:///var/modelway.db}, or another database"
        findings.error(source, at, "MW104", "there are no records to keep responses in", hint)
    batches = values.get("batches", {})
    rules = BatchRules(batches["invalid"]) if "invalid" in batches else BatchRules()
    files = FileRules(**values.get("files", {}))
    return Objects(ring, values["owner"], values["legacy"], responses, rules, files)


def check_tags(
    names: Collection[str], tags: Collection[bytes], source: Source, findings: Findings
) -> None:
    """Note two upstreams that sealed ids cannot tell apart, by the tags of their names."""
    for (name, tag), (other, other_tag) in combinations(zip(names, tags, strict=True), 2):
        if tag == other_tag:
            message = f"'{name}' and '{other}' have the same short name in sealed ids"
            findings.error(source, ("upstreams", other), "MW104", message, "rename one of them")
