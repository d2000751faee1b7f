"""The tokens of an answer, both ways."""

from __future__ import annotations

from google.genai import types

from engine.translations.generate_content.usage import write_usage
from engine.translations.neutral.events import Usage
from tests.support.each import each
from tests.translations.generate_content.documents import Json, piece, read, text


@each(
    ("reports", "usage"),
    [
        (
            [{"promptTokenCount": 9}, {"promptTokenCount": 9, "candidatesTokenCount": 4}],
            Usage(input=9, output=4),
        ),
        (
            [{"promptTokenCount": 9, "cachedContentTokenCount": 3}, {"candidatesTokenCount": 4}],
            Usage(input=9, output=4, cached=3),
        ),
        (
            [{"promptTokenCount": 9, "toolUsePromptTokenCount": 5, "totalTokenCount": 14}],
            Usage(input=14),
        ),
        (
            [
                {
                    "promptTokenCount": 9,
                    "candidatesTokenCount": 4,
                    "thoughtsTokenCount": 6,
                    "totalTokenCount": 19,
                }
            ],
            Usage(input=9, output=10, reasoning=6),
        ),
        (
            [
                {
                    "promptTokenCount": 9,
                    "candidatesTokenCount": 10,
                    "thoughtsTokenCount": 6,
                    "totalTokenCount": 19,
                }
            ],
            Usage(input=9, output=10, reasoning=6),
        ),
        ([{"promptTokenCount": 9, "thoughtsTokenCount": 6}], Usage(input=9, output=6, reasoning=6)),
        ([{"prompt_token_count": 9}], Usage(input=9)),
        ([{"promptTokenCount": -1, "cachedContentTokenCount": 7}], Usage()),
        ([{}, None], None),
    ],
)
def test_the_last_report_of_each_count_is_true(
    reports: list[Json | None], usage: Usage | None
) -> None:
    documents = [piece(text("a")) | {"usageMetadata": report} for report in reports]
    assert read(*documents, piece(finish="STOP")).usage == usage


@each(
    ("usage", "counts"),
    [
        (Usage(), (0, 0, None, None, 0)),
        (Usage(input=9, output=5, cached=4, reasoning=2), (9, 3, 4, 2, 14)),
        (Usage(input=9, output=5, reasoning=7), (9, 0, None, 7, 14)),
        (Usage(input=9, cache_write=4, output=5), (9, 5, None, None, 14)),
    ],
)
def test_usage_is_read_by_the_sdk(usage: Usage, counts: tuple[int | None, ...]) -> None:
    metadata = write_usage(usage)["usageMetadata"]
    report = types.GenerateContentResponseUsageMetadata.model_validate(metadata)
    assert counts == (
        report.prompt_token_count,
        report.candidates_token_count,
        report.cached_content_token_count,
        report.thoughts_token_count,
        report.total_token_count,
    )


def test_no_usage_is_no_member() -> None:
    assert write_usage(None) == {}
