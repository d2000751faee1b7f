"""What a `$ref` names: a file and a JSON Pointer in it."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path as FilePath
from urllib.parse import unquote

from engine.values.json_pointer import unescape

UNUSABLE_NAME = (ValueError, OSError, RuntimeError)
"""What `target_of` raises for a file that cannot exist: a null or half a character in its name, a
circle of symbolic links (RuntimeError)."""


def target_of(
    ref: str, base: FilePath, paths: dict[tuple[FilePath, str], FilePath] | None = None
) -> tuple[FilePath, str]:
    """The file and the JSON Pointer that a `$ref` in the file `base` names. Raises UNUSABLE_NAME
    for a file that cannot exist.

    `paths` keeps the files that were found, by folder and name: to resolve a path takes ten
    times as long as all else, and thousands of references name the same files.
    """
    target, _, pointer = ref.partition("#")
    if not target:
        return base, pointer
    if target.startswith("file://"):
        return _path_of_uri(target), pointer
    folder = base.parent
    file = paths.get((folder, target)) if paths is not None else None
    if file is None:
        file = (folder / unquote(target)).resolve()
        if paths is not None:
            paths[folder, target] = file
    return file, pointer


@lru_cache(maxsize=4096)
def _path_of_uri(uri: str) -> FilePath:
    return FilePath(unquote(uri.removeprefix("file://")))


def pointer_steps(pointer: str) -> list[str]:
    """The steps of a JSON Pointer in a URI fragment (RFC 6901)."""
    steps = pointer.split("/")[1:]
    if "%" not in pointer and "~" not in pointer:
        return steps
    return [unescape(unquote(step)) for step in steps]
