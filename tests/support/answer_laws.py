"""What holds of every answer of a vendor, in every caller's format, whole and streamed.

The official SDK's final message has each text, call, argument, citation and stop reason of the
vendor's; the usage in it is what the ledger notes, which is what it notes of a relayed answer; an
answer that is not carried is refused in words that the manual lists.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine import dialects
from engine.metering.readers import reader
from engine.relay.sse import Cleaner, NotAnEvent
from engine.translations import language, languages, target_language
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.refusals import LossRules
from engine.translations.translation import Translation
from engine.upstream.client.failures import InvalidAnswer
from engine.upstream.responses.translated_response import translated_response
from engine.values.redaction import Redaction
from engine.values.usage import Usage
from tests.support.recorded_answers import RecordedAnswer, saying
from tests.support.refusal_table import refusal_name
from tests.support.sayings import Json, Saying, saying_of
from tests.support.sdk_accumulators import as_sdk
from tests.support.told_usage import told
from tests.support.upstreams import EVENTS, JSON, FakeResponse

Form = tuple[str, bool]

FORMS: list[Form] = list(itertools.product([each.name for each in languages()], (False, True)))
"""Each caller's language, in one piece and as a stream."""

SAYS_CALLS = ("chat_completions", "messages")
"""Languages whose finish reasons say that there are calls."""

_PIECE = 4096
_TURN = {"role": "user", "content": "Hi"}
_REQUESTS: dict[str, Json] = {
    "chat_completions": {"messages": [_TURN], "stream_options": {"include_usage": True}},
    "responses": {"input": "Hi", "store": False},
    "messages": {"max_tokens": 9, "messages": [_TURN]},
    "generate_content": {"contents": [{"parts": [{"text": "Hi"}]}]},
}


@dataclass
class Judgement:
    """How many answers were carried, how many refused in which words of the manual, and the broken
    laws."""

    carried: int = 0
    refusals: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def judged(
    answers: Iterable[RecordedAnswer], forms: Callable[[int], Sequence[Form]] = lambda number: FORMS
) -> Judgement:
    """Each answer in the forms that are given for its number."""
    judgement = Judgement()
    for number, answer in enumerate(answers):
        for caller, stream in forms(number):
            place = f"{answer.id} for {caller}, stream={stream}"
            try:
                problems = list(broken_laws(answer, caller, stream=stream))
            except InvalidAnswer as error:
                name = refusal_name(str(error))
                judgement.refusals[name or "unlisted"] += 1
                problems = [] if name else [f"refused, and not in the manual: {error}"]
            except Exception as error:  # noqa: BLE001 - an SDK may raise anything
                problems = [f"{type(error).__name__} {error}"]
            else:
                judgement.carried += 1
            judgement.problems += [f"{place}: {each}" for each in problems]
    return judgement


def broken_laws(answer: RecordedAnswer, caller: str, *, stream: bool) -> Iterator[str]:
    """Raises InvalidAnswer for an answer that is refused, and what the SDK raises."""
    output, usage = answer_to(
        caller, answer.language, answer.body, events=answer.is_stream, stream=stream
    )
    documents = as_sdk(caller, output, stream=stream)
    yield from _differences(caller, saying(answer), saying_of(caller, documents))
    if usage != (noted := relayed_usage(answer.language, answer.body, events=answer.is_stream)):
        yield f"{usage} translated, {noted} relayed"
    yield from usage_differences(told(caller, documents), usage)


def _differences(caller: str, expected: Saying, found: Saying) -> Iterator[str]:
    """What an answer in a caller's format lacks or changes of what the vendor said."""
    if found.calls != expected.calls:
        yield f"calls: {found.calls} instead of {expected.calls}"
    if not found.text.startswith(expected.text) or (
        found.text != expected.text and found.stop != "other"  # a filter explains itself
    ):
        yield f"text: {found.text!r} instead of {expected.text!r}"
    if found.stop != (stop := _stop(caller, expected)):
        yield f"the stop '{found.stop}' instead of '{stop}' beside {len(found.calls)} calls"
    if found.urls != expected.urls:
        yield f"citations: {found.urls} instead of {expected.urls}"
    for start, end in found.spans:
        if not 0 <= start < end <= len(found.text):
            yield f"a citation of {start} to {end} in {len(found.text)} characters"


def _stop(caller: str, expected: Saying) -> str:
    """The class of the finish reason that is right for a caller: it agrees with the calls, unless
    the answer was cut or filtered."""
    if expected.stop in ("length", "other"):
        return expected.stop
    return "tools" if expected.calls and caller in SAYS_CALLS else "end"


def answer_to(
    caller: str,
    target: str,
    body: bytes,
    *,
    events: bool,
    stream: bool,
    cache_counted_twice: bool = False,
) -> tuple[bytes, Usage | None]:
    """What a caller gets of an answer, and the usage that the ledger notes. Raises InvalidAnswer
    for an answer that is refused."""
    pair = Translation(language(caller), target_language(target))
    request: Json = {"model": "m", **_REQUESTS[caller], "stream": stream}
    if not stream:
        request.pop("stream_options", None)
    if caller == "generate_content":
        request = _REQUESTS[caller]
    line = RequestLine(id="req1", model="m", stream=stream, query="alt=sse" if stream else "")
    exchange = pair.request(json.dumps(request).encode(), line, "m", LossRules())
    pieces = [body[start : start + _PIECE] for start in range(0, len(body), _PIECE)]
    fake: Any = FakeResponse(200, EVENTS if events else JSON, pieces)
    response = translated_response(
        fake,
        exchange,
        dialects.get(pair.source.dialect),
        "req1",
        Redaction([]),
        cache_counted_twice=cache_counted_twice,
    )
    try:
        output = b"".join(iter(response.read, b""))
    except NotAnEvent as error:
        raise InvalidAnswer(str(error)) from error
    return output, response.usage.usage()


def relayed_usage(target: str, body: bytes, *, events: bool) -> Usage | None:
    """The usage that the ledger notes of an answer that is relayed."""
    meter = dialects.get(target_language(target).dialect).meter
    usage_reader = reader(meter, "text/event-stream" if events else "application/json")
    if events:
        cleaner = Cleaner(dialects.get(target_language(target).dialect).stream)
        body = cleaner.feed(body) + cleaner.finish()
    usage_reader.feed(body)
    return usage_reader.usage()


def usage_differences(counts: dict[str, int], usage: Usage | None) -> Iterator[str]:
    """Where the caller is told another count than the ledger notes."""
    for name, count in counts.items():
        noted = 0 if usage is None else getattr(usage, name)
        if count != noted:
            yield f"{name} {count} told, {noted} in the ledger"
    if usage is not None and not counts:
        yield f"nothing is told of {usage}"
