"""An annotation of a line of a file in GitHub Actions: a workflow command.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


def annotation(command: str, title: str, message: str, *, file: str, line: int, column: int) -> str:
    """The line to print. `command` is error, warning or notice; `line` 0 means the whole file."""
    fields = {"file": file}
    if line:
        fields |= {"line": str(line), "col": str(column)}
    fields["title"] = title
    properties = ",".join(f"{key}={text.translate(_PROPERTY)}" for key, text in fields.items())
    return f"::{command} {properties}::{escape(message)}"


def escape(text: str) -> str:
    """Escape text outside the properties of a command, or outside a command."""
    return text.translate(_DATA)
