"""The table of answers that translations refuse, as the manual has it."""

from __future__ import annotations

import re
from functools import cache

from tests.support.translation_table import PAGE

_BEGIN = "<!-- answers that translations refuse -->"
_SUBJECT = "the upstream's answer "


@cache
def refusal_names() -> list[str]:
    """The words of the first column, without those of its head."""
    table = PAGE.read_text("utf-8").partition(_BEGIN)[2].partition("<!-- end -->")[0]
    return re.findall(r"^ *\| ([^|]+?) \|", table, re.MULTILINE)[1:]


def refusal_name(message: str) -> str:
    """The words of the table with which a message begins, "" if it has none of them."""
    names = (each for each in refusal_names() if message.startswith(_SUBJECT + each))
    return next(names, "")
