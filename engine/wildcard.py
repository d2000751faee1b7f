"""Names with `*` in them. Nothing else is special: a model may be called `m[1]` or `what?`."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)


def matches(name: str, pattern: str) -> bool:
    """Whether the name is one the pattern takes in; `*` stands for any text, also for none."""
    return name == pattern if "*" not in pattern else bool(_compiled(pattern).fullmatch(name))
