"""Usage of the OpenAI dialect beyond the cases of tests/cases/usage/openai.yaml."""

import itertools

from engine import dialects
from engine.dialects.interface.usage_counts import MAX_COUNT
from engine.values.usage import Usage

METER = dialects.get("openai").meter
NUMBERS = [0, 1, 5, 6, MAX_COUNT, MAX_COUNT + 1, -1, True, 5.0, "5", None]


def test_three_counts_are_read_alike_alone_and_among_others():
    usage_of = METER.usage_of
    for prompt, completion, total in itertools.product(NUMBERS, repeat=3):
        three = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total}
        fast = usage_of({"choices": [], "usage": three})
        assert fast == usage_of({"choices": [], "usage": {**three, "more": 0}}), three


def test_reasoning_outside_the_completion_is_known_by_the_total():
    counts = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 12}
    expected = Usage(5, 7, reasoning=4, source="upstream")
    assert METER.usage_of({"choices": [], "usage": counts | {"x": 0}}) == expected


def test_the_images_of_a_stream_are_added_and_other_usage_replaced():
    tally = METER.tally()
    image = {"type": "image_generation.completed", "usage": {"input_tokens": 2, "output_tokens": 3}}
    for document in (image, {"type": "ping"}, image):
        tally.take(document)
    assert (tally.ended, tally.usage().images, tally.usage().output) == (True, 2, 6)
    tally.take({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1}})
    assert tally.usage() == Usage(1, 1, source="upstream")
