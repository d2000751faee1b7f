"""A tokenizer file whose counts can be told by eye: each word and each mark is a token."""

from __future__ import annotations

import json


def tokenizer_file() -> bytes:
    """The bytes of a `tokenizer.json`."""
    return json.dumps(
        {
            "version": "1.0",
            "truncation": {
                "direction": "Right",
                "max_length": 4,
                "strategy": "LongestFirst",
                "stride": 0,
            },
            "padding": None,
            "added_tokens": [],
            "normalizer": None,
            "pre_tokenizer": {"type": "Whitespace"},
            "post_processor": None,
            "decoder": None,
            "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "one": 1}, "unk_token": "[UNK]"},
        }
    ).encode()
