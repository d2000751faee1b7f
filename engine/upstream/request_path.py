"""The path that an upstream is asked for: its base path, then what follows the mount prefix."""

from __future__ import annotations

from engine.spec.path_templates import unsafe


def upstream_path(base_path: str, mount: str, path: str) -> str:
    """The raw path `path`, with the segments of `mount` replaced by `base_path`.

    The prefix is cut by its number of segments, never by its length: a segment may be
    percent-encoded in the request, in the document or in both. Raises ValueError for a path whose
    result would not stand below `base_path`.
    """
    cut = len(mount)
    if not (path.startswith(mount) and path[cut : cut + 1] == "/"):
        cut = _end_of_segments(path, mount.count("/"))
    rest = path[cut:]
    if not rest.startswith("/"):
        raise ValueError("nothing follows the mount prefix")
    if (reason := unsafe(rest)) is not None:
        raise ValueError(reason)
    return base_path + rest


def _end_of_segments(path: str, count: int) -> int:
    """Where the first `count` segments end, each of which begins with a slash."""
    at = 0
    for _ in range(count):
        if path[at : at + 1] != "/":
            break
        following = path.find("/", at + 1)
        at = len(path) if following < 0 else following
    return at
