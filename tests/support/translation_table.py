"""The table of features that each translation refuses.

`python -m tests.support.translation_table` writes it into docs/reference/translation.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.translations import languages, target_languages
from engine.translations.neutral.language import Language, RequestLine, TargetLanguage
from engine.translations.neutral.refusals import LossRules
from engine.translations.translation import Translation
from engine.values.errors import GatewayError
from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "reference" / "translation.md"
BEGIN = "<!-- what translations refuse: python -m tests.support.translation_table -->\n"
END = "<!-- end -->\n"
MODELS = {
    "chat_completions": "gpt-4o",
    "responses": "gpt-4o",
    "messages": "claude-sonnet-4-5",
    "generate_content": "gemini-2.5-flash",
    "converse": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
}


def table() -> str:
    """A row for each caller's language and each language of a target."""
    rows = [
        f"| {source.name} | {target.name} | {', '.join(_refused_features(source, target))} |"
        for source in languages()
        for target in target_languages()
        if target is not source
    ]
    return "\n".join(
        ["| callers ask in | the target speaks | refused |", "|---|---|---|", *rows, ""]
    )


def _refused_features(source: Language, target: TargetLanguage) -> Iterator[str]:
    model = MODELS[target.name]
    line, translation = RequestLine(model=model), Translation(source, target)
    for feature in source.features.features:
        try:
            translation.request(source.features.request(feature, model), line, model, LossRules())
        except GatewayError:
            yield f"`{feature.name}`" if " " not in feature.name else feature.name


def parts(page: str) -> tuple[str, str, str]:
    """The page before its table, the table, and the page behind it."""
    before, _, rest = page.partition(BEGIN)
    table, _, after = rest.partition(END)
    return before + BEGIN, table, END + after


def write() -> None:
    """Write the table into the page."""
    before, _, after = parts(PAGE.read_text("utf-8"))
    PAGE.write_text(before + table() + after, "utf-8")


if __name__ == "__main__":
    write()
