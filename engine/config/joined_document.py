"""One config made of several files: its value, and the file and place of each part of it.

`include.py` joins files, `overlays.py` applies changes to them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.source.problem import MultiFileSource, Path, Source
from engine.source.reader import SourceDocument
from engine.source.suggestion import near

REPLACE, REMOVE, APPEND, PREPEND = "!replace", "!remove", "!append", "!prepend"
TAGS = frozenset({REPLACE, REMOVE, APPEND, PREPEND})
"""How a value of an overlay changes that of the files before it; without a tag, mappings are merged
and anything else is replaced."""


@dataclass(slots=True)
class Origin:
    """Where a value comes from: a file, and the path in it. `children` has the origins of entries
    that are not at this path of this file."""

    document: SourceDocument
    path: Path = ()
    children: dict[str | int, Origin] = field(default_factory=dict)

    def child(self, step: str | int) -> Origin:
        """The origin of an entry."""
        return self.children.get(step) or Origin(self.document, (*self.path, step))

    def entry(self, step: str | int) -> Origin:
        """The origin of an entry, stored in `children`, so that it can get children itself."""
        return self.children.setdefault(step, self.child(step))

    @property
    def tag(self) -> str:
        """The tag of the value, "" for none."""
        document = self.document
        return document.tags.get(document.place(self.path), "") if document.tags else ""


@dataclass(slots=True, kw_only=True)
class JoinedDocument(SourceDocument, MultiFileSource):
    """Several files as one value. `origin` is the origin of the root; `files` are in the order of
    reading. `file` and `text` are those of the first file."""

    origin: Origin
    files: list[SourceDocument]

    def part(self, path: Path) -> tuple[SourceDocument, Path]:
        """The file that holds a value, and its path there."""
        origin = self.origin
        for step in path:
            origin = origin.child(step)
        return origin.document, origin.path

    def place(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Line and column of a value in the file that `part` names."""
        document, at = self.part(path)
        return document.place(at, key=key)

    def reference(self, path: Path) -> str:
        """The text of the value at `path` in its file if it has `${...}`, else ""."""
        document, at = self.part(path)
        return document.reference(at)

    def free_positions(self) -> None:
        """Free the texts and positions of all files."""
        for document in self.files:
            document.free_positions()
        self.origin = Origin(self)

    def redact(self, words: str) -> str:
        """The words with every value that came from `${...}` replaced by its text in the file."""
        for document in self.files:
            words = document.redact(words)
        return words


def earlier_name(source: Source, section: str, name: str) -> str:
    """The hint for an entry of an overlay if an earlier file has one of nearly the same name: an
    overlay changes entries by their names. "" if there is none."""
    if not isinstance(source, JoinedDocument) or not isinstance(source.value, dict):
        return ""
    file = source.part((section, name))[0]
    if file is source.files[0]:
        return ""
    entries = source.value.get(section)
    others = [n for n in entries if source.part((section, n))[0] is not file] if entries else []
    closest = near(name, others)
    return f"did you mean '{closest}', which an earlier file has?" if closest else ""


def joined_document(main: SourceDocument) -> JoinedDocument:
    """A joined document of one file. Its sections may be changed: they are copies."""
    value = main.value
    if isinstance(value, dict):
        value = {k: list(v) if isinstance(v, list) else v for k, v in value.items()}
        value = {k: dict(v) if isinstance(v, dict) else v for k, v in value.items()}
    return JoinedDocument(
        file=main.file,
        text=main.text,
        value=value,
        problems=list(main.problems),
        expansions=dict(main.expansions),
        origin=Origin(main),
        files=[main],
    )
