"""The table of models: tasks, links to the playground, and names as text."""

from engine.console.chat_formats import models, routed_formats
from engine.console.model_table import model_table
from tests.console.conftest import planned


def render(plan):
    formats = routed_formats(plan)
    return model_table(plan, formats, models(plan, formats))


def row(page, name):
    return next(row for row in page.split("<tr") if f"<code>{name}</code>" in row)


def test_each_row_has_its_tasks_and_its_entry(shipped):
    page = render(shipped)
    assert 'data-tasks="chat" data-entry="gpt-4o"' in row(page, "gpt-4o")
    assert 'data-tasks="embedding"' in row(page, "text-embedding-3-small")
    assert 'data-tasks="transcription"' in row(page, "whisper-1")


def test_there_is_a_filter_for_each_task_that_a_model_has(shipped):
    controls = render(shipped).partition('<div class="scroll"')[0]
    for title in ("All", "Chat", "Embeddings", "Images", "Transcription", "Speech", "Realtime"):
        assert f">{title}</button>" in controls
    assert "hidden" in controls.partition(">")[0], "a script shows it"


def test_models_with_a_chat_format_link_to_the_playground(shipped, text):
    page = render(shipped)
    assert 'href="console/playground#model=claude-sonnet"' in row(page, "claude-sonnet")
    assert "#model=" not in row(page, "whisper-1")
    assert "#model=" not in row(page, "gpt-*")
    assert "#model=" not in render(planned(text + "\nconsole: {playground: false}\n"))


def test_names_are_escaped_in_links_and_attributes(text):
    entry = '  "a\\"b&c#<d>": {to: [{upstream: openai}]}\n'
    page = render(planned(text.replace("  gpt-4o: &", entry + "  gpt-4o: &", 1)))
    assert "#model=a%22b%26c%23%3Cd%3E" in page
    assert 'data-entry="a&quot;b&amp;c#&lt;d&gt;"' in page
    assert "<d>" not in page
