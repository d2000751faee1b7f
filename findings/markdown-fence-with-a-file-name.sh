#!/usr/bin/env bash
# Markdown 3.11.3 and pymdown-extensions 13.1.2: a fence whose info string is a language and a file name is no code
# block; its content becomes prose, without a warning.
#
# CommonMark 0.31.2, 4.5: the text behind the opening fence is the info string, which may hold any text without
# backticks; its first word usually is the language. markdown-it-py 4.3.0 (and GitHub) show a block. Python-Markdown
# takes three backticks for a span of code where it cannot read the rest of the line, so lines run together.
# `title="..."` is read by CommonMark and by superfences.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet Markdown==3.11.3 pymdown-extensions==13.1.2 markdown-it-py==4.3.0 Pygments==2.20.0
"$folder/venv/bin/python" - <<'PYTHON'
import markdown
from markdown_it import MarkdownIt

BARE = "```yaml app.yaml\na: 1\nb: 2\n```\n"
TITLED = '```yaml title="app.yaml"\na: 1\nb: 2\n```\n'


def blocks(text: str) -> dict[str, bool]:
    """Whether each renderer makes a block of code of it."""
    return {
        "markdown-it-py": "<pre>" in MarkdownIt().render(text),
        "Markdown fenced_code": "<pre" in markdown.markdown(text, extensions=["fenced_code"]),
        "pymdownx.superfences": "<pre" in markdown.markdown(
            text, extensions=["pymdownx.highlight", "pymdownx.superfences"]
        ),
    }


for name, text in (("bare name", BARE), ("title=", TITLED)):
    print(name, blocks(text))
assert list(blocks(BARE).values()) == [True, False, False]
assert blocks(TITLED)["markdown-it-py"] and blocks(TITLED)["pymdownx.superfences"]
PYTHON
