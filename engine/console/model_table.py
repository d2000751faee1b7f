"""The table of models on the home page: what each does, its formats, price and status.

Without JavaScript it is a table; `home.js` adds a search, filters, and the status of each model.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape
from urllib.parse import quote

from engine.console.chat_formats import RoutedFormat
from engine.plan.plan import Plan
from engine.values.trees import Json

_MARK = "*"
_LEGEND = f"""
<p class="muted">{_MARK} Requests in this format are translated for the model.</p>"""
_MAX_OPERATIONS = 4
"""The most operations shown of a model."""
_MAX_MODELS = 200
"""The most models in the table; `/v1/models` and the playground have all."""
_TRY = '<th scope="col"><span class="hidden">Playground</span></th>'
_TASKS: Mapping[str, str] = {
    "chat": "Chat",
    "completion": "Completions",
    "embedding": "Embeddings",
    "image": "Images",
    "transcription": "Transcription",
    "speech": "Speech",
    "realtime": "Realtime",
    "moderation": "Moderation",
    "rerank": "Rerank",
}
"""The tasks of models (`Dialect.tasks`) as filters, in this order."""


def model_table(plan: Plan, formats: Sequence[RoutedFormat], entries: Sequence[Json]) -> str:
    """The HTML of the table, with the controls that a script shows."""
    if not entries:
        return '<p class="muted">No models are configured.</p>'
    titles = {routed.name: routed.title for routed in formats}
    unit = f"{plan.config.currency} per million tokens in / out"
    priced = unit if any("price" in model for model in entries) else ""
    first_entries = entries[:_MAX_MODELS]
    can_try = plan.config.console.playground
    rows = "".join(_row(model, titles, priced, can_try) for model in first_entries)
    prices = f'<th scope="col" class="number">{escape(unit)}</th>'
    omitted = len(entries) - _MAX_MODELS
    note = f'\n<p class="muted">And {omitted} more.</p>' if omitted > 0 else ""
    legend = _LEGEND if any(model["translated"] for model in entries) else ""
    return f"""{_controls(first_entries)}
<div class="scroll" tabindex="0" role="region" aria-label="List of models"><table id="model-table">
<thead><tr><th scope="col">Model</th>{_TRY if can_try else ""}<th scope="col">Formats</th>
{prices if priced else ""}</tr></thead>
<tbody>{rows}</tbody></table></div>{note}{legend}"""


def _controls(entries: Sequence[Json]) -> str:
    """The search and the filters, one for each task that a model has."""
    present = {task for model in entries for task in model["tasks"]}
    tasks = [("", "All"), *((task, title) for task, title in _TASKS.items() if task in present)]
    buttons = "".join(
        f'<button type="button" class="small" data-task="{task}" aria-pressed="{_text(not task)}">'
        f"{title}</button>"
        for task, title in tasks
    )
    return f"""<div class="filters" id="filters" hidden>
<input id="find" type="search" aria-label="Find a model" placeholder="Find a model"
 autocomplete="off" spellcheck="false">
<div role="group" aria-label="What they do">{buttons}</div>
<p id="found" class="muted" role="status"></p>
</div>"""


def _row(model: Json, titles: Mapping[str, str], unit: str, can_try: bool) -> str:
    """A row; `unit` is that of prices, "" if no model has one."""
    name = escape(model["id"])
    title = model["title"] if model["title"] != model["id"] else ""
    subtitle = f' <span class="muted">{escape(title)}</span>' if title else ""
    cell = _price(model.get("price"), unit) if unit else ""
    link = f"<td>{_link(model)}</td>" if can_try else ""
    tasks = " ".join(task for task in model["tasks"] if task in _TASKS)
    return (
        f'<tr data-tasks="{tasks}" data-entry="{escape(model["entry"])}">'
        f'<th scope="row"><code>{name}</code>{subtitle}</th>'
        f"{link}<td>{_chips(model, titles)}</td>{cell}</tr>"
    )


def _price(price: Json | None, unit: str) -> str:
    """The cell of a price, with the unit, which is shown where the head of the table is not."""
    if not price:
        return '<td class="number">&ndash;</td>'
    text = f"{price['input']:g} / {price['output']:g}"
    return f'<td class="number" data-unit="{escape(unit)}">{text}</td>'


def _chips(model: Json, titles: Mapping[str, str]) -> str:
    chips = "".join(
        f'<span class="chip">{escape(titles[name])}{_MARK * (name in model["translated"])}</span>'
        for name in model["formats"]
    )
    return chips or _operations(model["operations"])


def _link(model: Json) -> str:
    """The link that opens the playground with a model; "" for one without a chat format."""
    name = model["id"]
    if not model["formats"] or "*" in name:
        return ""
    address = f"console/playground#model={quote(name, safe='')}"
    return f'<a class="try" href="{address}">Try<span class="hidden"> {escape(name)}</span></a>'


def _operations(names: Collection[str]) -> str:
    """The operations of a model without a chat format."""
    names_html = [f"<code>{escape(name)}</code>" for name in names][:_MAX_OPERATIONS]
    more = f" and {len(names) - _MAX_OPERATIONS} more" if len(names) > _MAX_OPERATIONS else ""
    return f"{', '.join(names_html)}{more}"


def _text(value: bool) -> str:
    return "true" if value else "false"
