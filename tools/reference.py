"""The pages of docs/reference/ that are made from the program, and the manual pages in man/.

`python -m tools.reference` writes them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path

import click

from engine import cli
from engine.offline.explanations import codes, explanation
from engine.values.metric import Metric
from tools.licences import page as licences_page
from tools.man_pages import man_pages

_ROOT = Path(__file__).resolve().parents[1]
FOLDER = _ROOT / "docs" / "reference"
MAN = _ROOT / "man"
_NOTE = "Written by `python -m tools.reference`; do not edit it here.\n"


def commands_page() -> str:
    """Every command with its help and its options, from click."""
    head = f"# Commands\n\n{_NOTE}`modelway COMMAND --help` prints the same.\n"
    return "\n".join([head, *_command("modelway", cli.main, None)])


def _command(name: str, command: click.Command, parent: click.Context | None) -> Iterator[str]:
    settings = command.context_settings  # of click's help option, which is kept once it is made
    context = click.Context(command, info_name=name.rpartition(" ")[2], parent=parent, **settings)
    if parent is not None:
        yield f"{'#' * (len(name.split()))} {name}\n"
        yield f"```text\n{name} {' '.join(command.collect_usage_pieces(context))}\n```\n"
        yield from _help(command.help or "")
        yield from _options(command, context)
    if isinstance(command, click.Group):
        for child_name in command.list_commands(context):
            child = command.get_command(context, child_name)
            assert child is not None
            yield from _command(f"{name} {child_name}", child, context)


def _help(text: str) -> Iterator[str]:
    """The paragraphs of a help text; what click prints line by line is a block."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if paragraph.startswith("\b"):
            lines = paragraph.removeprefix("\b").strip("\n")
            yield f"```text\n{lines}\n```\n"
        elif paragraph.strip():
            yield _cell(" ".join(paragraph.split()), in_table=False) + "\n"


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    rows = [record for record in records if record and record[1] and "--help" not in record[0]]
    if rows:
        yield "| option | meaning |\n|---|---|"
        # Python-Markdown prints the backslash of an escaped bar that is in a code span.
        cells = ((names.replace("|", ", "), _cell(meaning)) for names, meaning in rows)
        yield from (f"| `{names}` | {meaning} |" for names, meaning in cells)
        yield ""


def _cell(text: str, *, in_table: bool = True) -> str:
    """A text of the terminal in Markdown: what is not in a code span is escaped."""
    pieces = re.split(r"(`[^`]*`)", text.replace("|", "\\|") if in_table else text)
    return "".join(
        piece if piece.startswith("`") else re.sub(r"([<*])", r"\\\1", piece) for piece in pieces
    )


def metrics_by_subject() -> dict[str, list[Metric]]:
    """The metrics of all modules that define some, by their subject: a `metrics.py` and a part of
    `tracing/` have that of their folder."""
    subjects: dict[str, list[Metric]] = {}
    for path in sorted((_ROOT / "engine").rglob("*.py")):
        if "from engine.values.metric import" in path.read_text("utf-8"):
            name = ".".join(path.relative_to(_ROOT).with_suffix("").parts)
            defined = [each for each in vars(import_module(name)).values() if type(each) is Metric]
            if defined:
                folder = path.parent.name
                subject = path.stem if folder == "metrics" else folder
                subjects.setdefault(subject, []).extend(defined)
    return dict(sorted(subjects.items()))


def metrics_page() -> str:
    """Every metric with its kind, labels and meaning, from the modules that define them."""
    parts = [
        f"# Metrics\n\n{_NOTE}[Logs, metrics, health](telemetry.md) says how they are served.\n"
    ]
    for subject, metrics in metrics_by_subject().items():
        head = "| metric | kind | labels | meaning |\n|---|---|---|---|"
        rows = map(_metric_row, metrics)
        parts.append("\n".join([f"## {subject.capitalize()}", "", head, *rows, ""]))
    return "\n".join(parts)


def _metric_row(metric: Metric) -> str:
    labels = ", ".join(f"`{label}`" for label in metric.labels)
    return f"| `{metric.name}` | {metric.kind} | {labels} | {_cell(metric.help)} |"


def codes_page() -> str:
    """Every code of `check` with its meaning."""
    parts = [
        f"# Codes of `modelway check`\n\n{_NOTE}"
        "`modelway check --explain CODE` also prints a wrong example and the corrected one.\n"
    ]
    for code in codes():
        entry = explanation(code)
        assert entry is not None
        meaning = entry.text.partition("\n## Wrong")[0].partition("\n\n")[2].strip()
        parts.append(f"## {code}: {_cell(entry.title, in_table=False)}\n\n{meaning}\n")
    return "\n".join(parts)


PAGES: Mapping[str, Callable[[], str]] = {
    "codes.md": codes_page,
    "commands.md": commands_page,
    "licences.md": licences_page,
    "metrics.md": metrics_page,
}
"""Name of a page, and what makes it."""


def main() -> None:
    """Write all pages."""
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), "utf-8")
    MAN.mkdir(exist_ok=True)
    for name, text in man_pages().items():
        (MAN / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
