"""The windows of quotas: a duration that slides, or a period of the calendar."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.values import units
from engine.values.calendar import PERIODS, WEEKDAYS, Calendar

_PERIODS = "|".join(PERIODS)
_ZONE = "[A-Za-z][A-Za-z0-9_+/-]{0,63}"
WINDOW = (
    rf"([0-9]{{1,9}}(\.[0-9]{{1,9}})?(s|m|h|d)"
    rf"|({_PERIODS})( in {_ZONE})?( from ({'|'.join(WEEKDAYS)}))?)"
)
"""A window as text: a duration, or `day`, `month`, `week in Europe/Vienna from sunday`."""
SHARE = "^(100|[1-9][0-9]?)%$"
WARN_AT = {
    "description": "Shares of the amount at which a warning is written, once in each window: "
    "[50%, 80%, 100%]. 100% is also the first refusal.",
    "type": "array",
    "minItems": 1,
    "maxItems": 10,
    "items": {"type": "string", "pattern": SHARE},
}
"""The schema of `warn_at`, beside a quota with a window."""
WINDOW_KEYS = {
    "per": {
        "description": "The window: 1m, 1h or 30d, which slides; day, week or month, which do not.",
        "type": "string",
        "pattern": rf"^([1-9][0-9]{{0,8}}(s|m|h|d)|{_PERIODS})$",
        "x-modelway": {"format": "window", "synonyms": ["window", "period", "interval"]},
    },
    "time_zone": {
        "description": "The time zone in which a day, week or month begins: Europe/Vienna. "
        "Default: UTC.",
        "type": "string",
        "pattern": rf"^{_ZONE}$",
    },
    "week_starts": {
        "description": "The first day of a week. Default: monday.",
        "type": "string",
        "enum": list(WEEKDAYS),
    },
    "warn_at": WARN_AT,
}
"""The schemas of the keys that describe the window of a quota, and the warnings before its end."""
Window = float | Calendar
"""The seconds of a sliding window, or windows of the calendar."""


def window_of(options: Mapping[str, Any]) -> Window:
    """The window in the options of a policy (see WINDOW_KEYS). ValueError for an unknown time zone,
    and for keys that this kind of window does not take."""
    per, keys = options["per"], ("time_zone", "week_starts")
    if per not in PERIODS:
        for key in keys:
            if key in options:
                raise ValueError(f"'{key}' is only for day, week or month; '{per}' slides")
        return units.seconds(per)
    if per != "week" and "week_starts" in options:
        raise ValueError(f"'week_starts' is only for week; the window is a {per}")
    return Calendar(per, **{key: options[key] for key in keys if key in options})


def window_text(window: Window) -> str:
    """A window as written in a limit: `30d`, `month in Europe/Vienna`."""
    return str(window) if isinstance(window, Calendar) else units.duration_text(window)


def window_seconds(window: Window) -> float:
    """The length of a window in seconds; of a calendar window, the average."""
    return window.seconds if isinstance(window, Calendar) else window


def window_key(window: Window) -> str:
    """The window in the name of a counter. It omits the time zone: calendar windows keep their
    count when the zone changes."""
    return window.period if isinstance(window, Calendar) else f"{window:g}"


def read_window(text: str) -> Window:
    """The window of a text that WINDOW matches."""
    per, *words = text.split(" ")
    values = dict(zip(words[::2], words[1::2], strict=True))
    keys = {"in": "time_zone", "from": "week_starts"}
    return window_of({"per": per} | {keys[word]: value for word, value in values.items()})
