"""YAML syntax errors: the place of the mistake, and what to write.

libyaml names the place where it stopped, often far behind the mistake. Here an unclosed bracket or
quote is reported where it opens, and a key without a colon at the key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import yaml

from engine.source.nodes import Loader
from engine.source.suggestion import invisible

_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'")
_SAME_COLUMN = "keys of a mapping begin in the same column"
_IN_BRACKETS = ("while parsing a flow mapping", "while parsing a flow sequence")
_CONFLICT = re.compile(r"^<{7} ", re.MULTILINE)
_ALIAS = "put quotes around a value that begins with '*', or name it before with '&'"
_RESERVED = {
    "@": "put quotes around a value that begins with @",
    "`": "put quotes around a value that begins with `",
    "%": "put quotes around a value that begins with %",
}


class SyntaxFault(NamedTuple):
    """A syntax error: line and column from 1, message and hint."""

    line: int
    column: int
    message: str
    hint: str = ""


def syntax_fault(text: str, error: yaml.MarkedYAMLError) -> SyntaxFault:
    """The probable place and cause of a syntax error."""
    if (conflict := _CONFLICT.search(text)) is not None:
        line = text.count("\n", 0, conflict.start()) + 1
        message = "not YAML: a marker of a merge conflict"
        return SyntaxFault(line, 1, message, "keep one of its two sides, and remove the markers")
    fault = _fault(text, error)
    return _with_invisible(text.splitlines(), fault) or fault


def _with_invisible(lines: list[str], fault: SyntaxFault) -> SyntaxFault | None:
    """The fault of an invisible character on the line of a fault, or in the indentation of the line
    above it; None if there is none."""
    if fault.line > len(lines):
        return None
    if char := invisible(_QUOTED.sub("", lines[fault.line - 1])):
        return fault._replace(hint=f"the line has {char}; write a plain space")
    above = lines[fault.line - 2] if fault.line > 1 else ""
    if char := invisible(above[: len(above) - len(above.lstrip())]):
        message = "not YAML: an indentation that is not made of plain spaces"
        return SyntaxFault(fault.line - 1, 1, message, f"it has {char}; write plain spaces")
    return None


def _fault(text: str, error: yaml.MarkedYAMLError) -> SyntaxFault:
    lines = text.splitlines()
    mark, opened = error.problem_mark or error.context_mark, error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    context = f"{error.context}, " if error.context else ""
    hint = _hint(lines, line, column)
    if _SAME_COLUMN in hint and error.context not in _IN_BRACKETS:
        column = _indent(lines[line - 1]) + 1
    plain = SyntaxFault(line, column, f"not YAML: {context}{error.problem}", hint)
    if opened is None or mark is None:
        return plain
    start = SyntaxFault(opened.line + 1, opened.column + 1, "")
    content = _at(lines, start.line, start.column)
    if error.context == "while scanning a quoted scalar":
        message = f"not YAML: the {_quote_name(content)} that opens here is not closed"
        return start._replace(message=message)
    if (quote := _long_quote(text, line)) is not None:
        return quote
    if error.context in _IN_BRACKETS:
        return _bracket(lines, plain, start)
    if error.context == "while scanning a simple key":
        return _no_colon(lines, start)
    if error.context in ("while parsing a block mapping", "while parsing a block collection"):
        return plain._replace(hint=plain.hint or _indentation(lines, plain, start))
    return plain


def _hint(lines: list[str], line: int, column: int) -> str:
    content = lines[line - 1] if line <= len(lines) else ""
    if (
        "\t" in content[: len(content) - len(content.lstrip())]
        or content[column - 1 : column] == "\t"
    ):
        return "indent with spaces, never with tabs"
    bare = _QUOTED.sub('""', content)
    if re.search(r"\{[^}]*\$\{|\[[^]]*\$\{", bare):
        return 'inside { } put quotes around it: "${VAR}"'
    char = content[column - 1 : column]
    before = content[: column - 1].rstrip()
    if before.endswith("*") or char == "*":
        is_alias = char == "*" and content[column : column + 1].strip() != ""
        return _ALIAS if is_alias else 'put quotes around it: "*"'
    if content.startswith("---"):
        return "remove the line '---': a file holds one document"
    if char == "-" and before == "":
        return "entries within [ ] have no '- '; is a '[' not closed before?"
    if char in _RESERVED:
        return _RESERVED[char]
    if char in ("]", "}"):
        return f"remove this '{char}', or open it before"
    if char == ":":
        return _colon(lines, line, column)
    return ""


def _colon(lines: list[str], line: int, column: int) -> str:
    """The hint for a second `: ` on a line, or for an indentation deeper than the line before
    allows."""
    content = lines[line - 1]
    if ":" in content[: column - 1]:
        return "put quotes around a value that holds ': '"
    above = next((text for text in reversed(lines[: line - 1]) if text.strip()), "")
    if re.match(r"-[^-\s]", above.lstrip()):
        return "a list entry begins with '- ', a dash and a space; the line before does not"
    if _indent(content) > _indent(above) and not above.rstrip().endswith(":"):
        columns = f"{_indent(content)} spaces, the line before by {_indent(above)}"
        return f"it is indented by {columns}: {_SAME_COLUMN}"
    return "put quotes around a value that holds ': '"


def _indentation(lines: list[str], plain: SyntaxFault, start: SyntaxFault) -> str:
    """The hint for a key in another column than the other keys of its mapping, else ""."""
    content = lines[plain.line - 1] if plain.line <= len(lines) else ""
    if plain.column == start.column or _indent(content) + 1 != plain.column:
        return ""
    above = next((text for text in reversed(lines[: plain.line - 1]) if text.strip()), "")
    return (
        f"it begins in column {plain.column}, the line before in column {_indent(above) + 1}, the "
        f"keys around them (line {start.line}) in column {start.column}: {_SAME_COLUMN}"
    )


def _bracket(lines: list[str], plain: SyntaxFault, start: SyntaxFault) -> SyntaxFault:
    """The fault of an unclosed bracket; if all is on one line, a comma may be missing."""
    char = _at(lines, plain.line, plain.column)
    opened = _at(lines, start.line, start.column)
    if plain.line == start.line and char not in ("]", "}"):
        variable = plain.hint if "${" in plain.hint else ""
        before = lines[plain.line - 1][: plain.column - 1]
        word = re.search(r"[^\s,{\[]*$", before) if char == ":" else None
        column = word.start() + 1 if word else plain.column
        return plain._replace(column=column, hint=variable or "put a comma between two entries")
    message = f"not YAML: the '{opened}' that opens here is not closed"
    place = f"{plain.line}:{plain.column}"
    hint = f"the text at {place} cannot be part of it"
    if plain.line == start.line:
        hint = f"'{char}' closes something else at {place}"
    return start._replace(message=message, hint=hint)


def _no_colon(lines: list[str], start: SyntaxFault) -> SyntaxFault:
    """The fault of a line that should be `key: value`."""
    content = lines[start.line - 1][start.column - 1 :] if start.line <= len(lines) else ""
    if content[:1] in ("'", '"') and content.count(content[0]) == 1:
        return start._replace(
            message=f"not YAML: the {_quote_name(content[0])} that opens here is not closed"
        )
    match = re.match(r"([\w.-]+)\s*[:=\uff1a]\s*(\S.*)", content)
    hint = f"write '{match[1]}: ...', with a colon and a space" if match else "write 'key: value'"
    return start._replace(message="not YAML: there is no ': ' on this line", hint=hint)


def _long_quote(text: str, line: int) -> SyntaxFault | None:
    """The fault of a quoted text over several lines that ends where reading stopped: most often
    its quote is not closed, and the next quote in the file ends it."""
    for token in _tokens(text):
        first, last = token.start_mark.line + 1, token.end_mark.line + 1
        if token.style in ('"', "'") and first < last and last == line:
            quote = _quote_name(token.style)
            message = f"not YAML: the {quote} that opens here is closed on line {last} only"
            return SyntaxFault(
                first, token.start_mark.column + 1, message, "close it on its own line"
            )
    return None


def _quote_name(quote: str) -> str:
    return "single quote" if quote == "'" else "double quote"


def _tokens(text: str) -> Iterator[yaml.ScalarToken]:
    """The scalars of a file up to the syntax error."""
    try:
        for token in yaml.scan(text, Loader=Loader):
            if isinstance(token, yaml.ScalarToken):
                yield token
    except yaml.YAMLError:
        return  # the caller reports it


def _at(lines: list[str], line: int, column: int) -> str:
    return lines[line - 1][column - 1 : column] if line <= len(lines) else ""


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
