"""Changes of a user's files that can be undone.

An `Edit` puts a new text in place of a whole file, or adds a block to its end. What was changed is
recorded in a file of the user's state (XDG Base Directory Specification): undone, a file has the
bytes that it had before. If somebody else has changed it since, only the block is taken out, or the
settings of the edit; what cannot be read then is left alone.
"""

from __future__ import annotations

import base64
import difflib
import errno
import json
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict

from engine.cli.connect.merge import CannotMerge, has_settings, revert
from engine.cli.connect.shells import folder_of

_NEW = 0o600
_WRITABLE = 0o222


class CannotUndo(Exception):
    """A file was changed since; `str` names it, and says what to do."""


class Edit(Struct, frozen=True):
    """A change of a file: its bytes `before`, None if there was none, and `after`."""

    path: Path
    before: bytes | None
    after: bytes

    def difference(self) -> str:
        """The change as a unified diff."""
        before, after = (
            (data or b"").decode("utf-8", "replace").splitlines(keepends=True)
            for data in (self.before, self.after)
        )
        name = str(self.path)
        lines = difflib.unified_diff(before, after, name if before else "/dev/null", name)
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


class _Record(Struct, frozen=True):
    """What is needed to undo an edit: the bytes in base64, None for a file that did not exist."""

    path: str
    before: str | None
    after: str


def read(path: Path) -> bytes | None:
    """The bytes of a file, None if there is none. Raises OSError, also for what is no file."""
    try:
        _check_kind(path, path.stat().st_mode)
        return path.read_bytes()
    except FileNotFoundError:
        return None


def with_block(path: Path, before: bytes | None, block: str) -> Edit:
    """An edit that adds a block of lines to the end of a file."""
    text = before or b""
    gap = b"" if not text else b"\n" if text.endswith(b"\n") else b"\n\n"
    return Edit(path, before, text + gap + block.encode())


class ChangeRecord:
    """The edits made for a `name`, in a file of the `folder`."""

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / f"{name}.json"

    def exists(self) -> bool:
        return self.path.exists()

    def apply(self, edits: Sequence[Edit]) -> None:
        """Make the edits, after they are recorded: all, or none. Raises OSError."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._record(edits)
        for count, edit in enumerate(edits):
            try:
                edit.path.resolve().parent.mkdir(parents=True, exist_ok=True)
                _write(edit.path, edit.after)
            except BaseException:
                self._record(edits[:count])
                self.undo()
                raise

    def _record(self, edits: Sequence[Edit]) -> None:
        records = [asdict(_record_of(edit)) for edit in edits]
        _write(self.path, json.dumps(records, indent=1).encode())

    def edits(self) -> Iterator[Edit]:
        """The edits that undo those recorded. Raises CannotUndo and OSError."""
        for record in self._records():
            path = Path(record.path)
            present = read(path)
            if present not in (None, _decode(record.before)):
                yield Edit(path, present, _without_edit(record, present or b""))

    def undo(self) -> None:
        """Undo the edits. Raises CannotUndo, before any is undone, and OSError."""
        created = {record.path for record in self._records() if record.before is None}
        for edit in list(self.edits()):
            if not edit.after and str(edit.path) in created:
                edit.path.resolve().unlink()  # a link stays, as it was there before
            else:
                _write(edit.path, edit.after)
        self.path.unlink()

    def _records(self) -> list[_Record]:
        data = self.path.read_bytes()
        try:
            return [_Record(**value) for value in json.loads(data)]
        except (ValueError, TypeError) as error:
            raise CannotUndo(
                f"{self.path} cannot be read: delete it, and take out by hand what "
                "`modelway connect` wrote"
            ) from error


def state_folder(home: Path, environ: Mapping[str, str]) -> Path:
    """Where the records are."""
    base = folder_of(environ, "XDG_STATE_HOME", home / ".local" / "state")
    return base / "modelway" / "connect"


def _record_of(edit: Edit) -> _Record:
    before, after = (
        None if data is None else base64.b64encode(data).decode()
        for data in (edit.before, edit.after)
    )
    return _Record(str(edit.path), before, after or "")


def _without_edit(record: _Record, present: bytes) -> bytes:
    """The bytes of a file without the edit."""
    before, after = _decode(record.before) or b"", _decode(record.after) or b""
    if present in (before, after):
        return before
    addition = after.removeprefix(before)
    is_block = after.startswith(before) and (before or not has_settings(record.path))
    if is_block and present.count(addition) == 1:
        return _join(*present.split(addition))
    try:
        texts = (data.decode("utf-8") for data in (present, before, after))
        return revert(record.path, *texts).encode()
    except (CannotMerge, UnicodeDecodeError, KeyError) as error:
        raise CannotUndo(
            f"{record.path} was changed since: take out by hand what `modelway connect` wrote there"
        ) from error


def _decode(data: str | None) -> bytes | None:
    return None if data is None else base64.b64decode(data)


def _join(head: bytes, tail: bytes) -> bytes:
    """The text before a block and that behind it, whose lines stay apart."""
    ends = not head or head.endswith(b"\n") or not tail or tail.startswith(b"\n")
    return head + tail if ends else head + b"\n" + tail


def _check_kind(path: Path, mode: int) -> None:
    """Raise OSError for what is no file, as a pipe, or the device to which some link theirs."""
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))


def _write(path: Path, data: bytes) -> None:
    """Replace a file at once, with the mode that it has; one that a link names is replaced there.
    Raises OSError, also for a file that nobody may write."""
    target = path.resolve()
    mode = _NEW
    if target.exists():
        status = target.stat().st_mode
        _check_kind(path, status)
        mode = stat.S_IMODE(status)
        if not mode & _WRITABLE:
            raise PermissionError(errno.EACCES, "it is read-only", str(path))
    fd, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with open(fd, "wb") as file:
            file.write(data)
        os.chmod(name, mode)
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise
