"""Citations of the texts of a stream -> annotations, and the members of the events with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.translations.neutral.answer import place_late
from engine.translations.neutral.content import Citation, Text
from engine.translations.responses.answer_fields import write_annotation

Json = dict[str, Any]


class CitedTexts:
    """The complete texts of an answer, each with its part and the members that say which it is."""

    def __init__(self) -> None:
        self._texts: list[tuple[Text, Json, Json]] = []

    def add(self, text: Text, part: Json, place: Json) -> Iterator[Json]:
        """A text is complete. Returns the members of an event for each of its annotations."""
        self._texts.append((text, part, place))
        for index, annotation in enumerate(part["annotations"]):
            yield {**place, "annotation_index": index, "annotation": annotation}

    def cite(self, citation: Citation) -> Json | None:
        """A late citation: it is added to its text's part, which the last event repeats. Returns
        the members of its event, None without a text."""
        position = place_late([text for text, _, _ in self._texts], citation)
        if position is None:
            return None
        text, part, place = self._texts[position]
        annotations = part["annotations"]
        annotations.append(write_annotation(text.citations[-1], len(text.text)))
        return {
            **place,
            "annotation_index": len(annotations) - 1,
            "annotation": annotations[-1],
        }
