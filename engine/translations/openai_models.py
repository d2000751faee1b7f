"""What OpenAI's models accept, by their names. Other vendors' models take what most accept.

Sources: which names there are: openai-python 3.52.0; limits of answers and which models reason and
sample up to gpt-5.5: models.dev, 2 July 2026 (a test compares them); efforts of gpt-5.5 and later:
the list of models in Codex of November 2026, which names no "none"; that o3 and o4-mini take no
stop sequences: the vendor's OpenAPI document.

Not verified: the efforts of gpt-5 to gpt-5.4 and of the models for chat, Codex and research; that
gpt-5.1, 5.2 and 5.4 sample unless asked to reason, which models.dev denies; that models after
gpt-5.5 do not sample; the 16,384 tokens of gpt-5-chat, for which models.dev has 128,000.
"""

from __future__ import annotations

from functools import lru_cache

from engine.translations.neutral.parameters import EFFORTS, effort_of, nearest_effort
from engine.translations.neutral.request import Thinking
from engine.values.wildcard import ByName, Patterns

_REASON = Patterns(
    (
        *("o1*", "o3*", "o4*", "gpt-5*", "gpt-6*", "gpt-daybreak-*", "gpt-rosalind-*"),
        *("gpt-oss*", "codex-*", "computer-use-*"),
    )
)
_DO_NOT_REASON = Patterns(("gpt-4*", "gpt-3*", "chatgpt-*", "gpt-5-chat*", "gpt-5.3-chat*"))

_MARK_CACHE = Patterns(("*claude*",))

_NEVER_SAMPLE = Patterns(
    (
        *("o1*", "o3*", "o4*", "gpt-5", "gpt-5-*", "gpt-5.*-chat*", "gpt-5.*-codex*"),
        *("gpt-5.*-pro*", "gpt-5.6*", "gpt-6*", "gpt-daybreak-*", "gpt-rosalind-*", "codex-*"),
    )
)
_NEVER_STOP = Patterns(("o3", "o3-2*", "o3-pro*", "o4-mini*"))
_ONE_VERBOSITY = Patterns(("o1*", "o3*", "o4*", "codex-*"))
_REASON_IF_ASKED = Patterns(("gpt-5.1*", "gpt-5.2*", "gpt-5.4*"))
_REASON_UNLESS_NONE = Patterns(("gpt-5.*",))

_MOST = ("low", "medium", "high")
_NEWEST = (*_MOST, "xhigh", "max")
_EFFORTS = ByName[tuple[str, ...]](
    {
        **dict.fromkeys(("gpt-5", "gpt-5-*"), ("minimal", *_MOST)),
        "gpt-5-pro*": ("high",),
        "gpt-5.*": ("none", *_MOST, "xhigh"),
        "gpt-5.1*": ("none", *_MOST),
        "gpt-5.*-codex*": (*_MOST, "xhigh"),
        "gpt-5.1-codex*": _MOST,
        "gpt-5.1-codex-max*": (*_MOST, "xhigh"),
        "gpt-5.*-chat*": ("medium",),
        **dict.fromkeys(("gpt-5.2-pro*", "gpt-5.4-pro*", "gpt-5.5-pro*"), (*_MOST[1:], "xhigh")),
        **dict.fromkeys(("gpt-5.6*", "gpt-6*", "gpt-daybreak-*", "gpt-rosalind-*"), _NEWEST),
        **dict.fromkeys(("o1*", "o3*", "o4*", "gpt-oss*", "codex-*", "computer-use-*"), _MOST),
    }
)
"""The efforts of each family, "none" among them where the model can leave it out."""


@lru_cache(maxsize=1000)
def _is_one_of(family: Patterns, model: str) -> bool:
    """Whether a model is one of a family. Names of models are short (`SelectModel`)."""
    return family.match(model)


def takes_cache_control(model: str) -> bool:
    """Whether the model accepts Anthropic's marks for the prompt cache: vendors that serve
    Anthropic's models in this format do."""
    return _is_one_of(_MARK_CACHE, model)


_VENDORS_OWN = Patterns(
    (
        *("gpt-3*", "gpt-4*", "gpt-5*", "gpt-6*", "gpt-daybreak-*", "gpt-rosalind-*"),
        *("gpt-audio*", "chatgpt-*", "o1*", "o3*", "o4*", "codex-*"),
    )
)

_MOST_TOKENS = ByName[int](
    {
        "gpt-3.5-*": 4096,
        "gpt-4": 8192,
        "gpt-4-*": 8192,
        **dict.fromkeys(("gpt-4-turbo*", "gpt-4-*-preview", "gpt-4o-2024-05-13"), 4096),
        **dict.fromkeys(
            ("gpt-4o*", "gpt-4.5*", "chatgpt-4o*", "gpt-5-chat*", "gpt-5.*-chat*"), 16_384
        ),
        **dict.fromkeys(("gpt-5", "gpt-5-*"), 128_000),
        **dict.fromkeys(("gpt-5.1*", "gpt-5.2*", "gpt-5.3*", "gpt-5.4*", "gpt-5.5*"), 128_000),
        "gpt-5-pro*": 272_000,
        "gpt-5.3-codex-spark*": 32_000,
        **dict.fromkeys(("gpt-4.1*", "o1-preview*"), 32_768),
        "o1-mini*": 65_536,
        **dict.fromkeys(("o1", "o1-2*", "o1-pro*", "o3*", "o4*", "codex-mini*"), 100_000),
    }
)


def searches_in_chat(model: str) -> bool:
    """Whether the model may search the web in chat completions: of OpenAI's models, only those with
    "search" in their name."""
    return "search" in model or not _is_one_of(_VENDORS_OWN, model)


def most_tokens(model: str) -> int | None:
    """The token limit of the model's answers, None if it is unknown."""
    return _MOST_TOKENS.find(model)


def limit_field(model: str) -> str:
    """The field that limits the answer: the older one unless the model refuses it."""
    return "max_completion_tokens" if _is_one_of(_REASON, model) else "max_tokens"


def reasons(model: str) -> bool:
    """Whether it is known that the model reasons."""
    return _is_one_of(_REASON, model) and not _is_one_of(_DO_NOT_REASON, model)


def samples(model: str, effort: str | None) -> bool:
    """Whether the model accepts a temperature and top_p with this effort; some models that reason
    accept them only without reasoning."""
    if _is_one_of(_DO_NOT_REASON, model):
        return True
    if _is_one_of(_NEVER_SAMPLE, model):
        return False
    if effort is None:
        return _is_one_of(_REASON_IF_ASKED, model) or not _is_one_of(_REASON_UNLESS_NONE, model)
    return effort == "none" or not _is_one_of(_REASON_UNLESS_NONE, model)


def most_stops(model: str) -> int | None:
    """The most stop sequences that the model takes, None where that is not known."""
    if _NEVER_STOP.match(model):
        return 0
    return 4 if _VENDORS_OWN.match(model) else None


def takes_verbosity(model: str) -> bool:
    """Whether the model takes another verbosity than "medium"."""
    return not _is_one_of(_DO_NOT_REASON, model) and not _is_one_of(_ONE_VERBOSITY, model)


def reasoning_effort(thinking: Thinking | None, model: str) -> tuple[str | None, bool]:
    """The effort for a model (None: leave it out), and whether the request can be fulfilled. An
    effort that the model does not have becomes the next lower one."""
    if thinking is None:
        return None, True
    if _is_one_of(_DO_NOT_REASON, model):
        return None, thinking.off
    efforts = _EFFORTS.find(model)
    if thinking.off:
        return (None if efforts is None else efforts[0]), True
    if thinking.budget is not None and not thinking.effort:
        words = tuple(o for o in efforts or _MOST if o != "none")
        return nearest_effort(effort_of(thinking.budget), words), True
    if not thinking.effort or efforts is None:
        return thinking.effort or None, True  # as the model likes, or as its vendor knows it
    if thinking.effort in efforts or thinking.effort not in EFFORTS:
        return thinking.effort, True
    return nearest_effort(thinking.effort, tuple(o for o in efforts if o != "none")), True
