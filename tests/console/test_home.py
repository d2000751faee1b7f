"""The home page: base URL, snippets and models, and no inline script."""

import re

import pytest

from engine.console.home import home
from tests.console.conftest import planned
from tests.support.exchanges import new_exchange


def render(plan, host="gateway:8080"):
    exchange = new_exchange("GET", "/", "", {"wsgi.url_scheme": "http", "HTTP_HOST": host})
    return home(plan)(exchange).body.decode()


def test_it_shows_the_base_address_formats_and_models(shipped):
    page = render(shipped)
    assert ">http://gateway:8080/v1</code>" in page
    for words in ("/v1/chat/completions", "/v1/messages", ":generateContent", "/v1/responses"):
        assert words in page
    assert all(name.replace("&", "&amp;") in page for name in shipped.config.models)
    assert 'href="console/playground"' in page
    assert 'href="docs"' in page


def test_it_shows_the_base_url_of_the_config(text):
    config = text.replace("server:\n", "server:\n  base_url: https://models.example.com/ai/\n", 1)
    page = render(planned(config))
    assert ">https://models.example.com/ai/v1</code>" in page
    assert "gateway:8080" not in page


def test_it_has_no_secret(shipped):
    page = render(shipped)
    assert not any(digest in page for digest in shipped.config.tokens)
    assert "api.openai.com" not in page


def test_names_are_escaped(text):
    name = "a'b\"<script>&"
    entry = '  "a\'b\\"<script>&": {title: "<b>", to: [{upstream: openai}]}\n'
    page = render(planned(text.replace("  gpt-4o: &", entry + "  gpt-4o: &", 1)))
    assert name not in page
    assert "<script>&" not in page
    assert "a&#x27;b&quot;&lt;script&gt;&amp;" in page
    assert "&lt;b&gt;" in page


def test_prices_are_shown_if_configured(text):
    priced = planned(text + "\nprices:\n  gpt-4o: {input: 2.5, output: 10}\ncurrency: EUR\n")
    page = render(priced)
    assert "EUR per million tokens in / out" in page
    assert "2.5 / 10" in page
    assert "per million tokens" not in render(planned(text))


def test_links_to_disabled_pages_are_missing(text):
    bare = render(planned(text + "\nconsole: {playground: false, docs: false}\n"))
    assert "playground" not in bare
    assert 'href="docs"' not in bare


def test_nothing_is_loaded_from_another_origin(shipped):
    page = render(shipped)
    head = page.partition("<body>")[0]
    assert "//" not in head
    assert "<script>" not in page
    assert "style=" not in page
    assert "onclick" not in page


def test_formats_that_are_translated_are_marked(shipped):
    page = render(shipped)
    rows = page.partition("<tbody>")[2].split("<tr")
    row = next(row for row in rows if "<code>claude-sonnet</code>" in row)
    assert '<span class="chip">Messages</span>' in row
    assert '<span class="chip">Chat completions*</span>' in row
    assert "* Requests in this format are translated" in page


def test_there_is_no_legend_without_a_translated_format(text):
    config = re.sub(r"([{,] ?)to:", r"\1translate: off, to:", text)
    config = re.sub(r"^    to:", "    translate: off\n    to:", config, flags=re.MULTILINE)
    assert "are translated" not in render(planned(config))


@pytest.mark.parametrize(
    ("form", "model"),
    [("chat", "gpt-4o"), ("messages", "claude-sonnet"), ("generate", "gemini-2.5-flash")],
)
def test_snippets_name_a_model_that_speaks_their_format(shipped, form, model):
    card = render(shipped).partition(f'<article class="card" aria-labelledby="{form}">')[2]
    assert model in card.partition("</article>")[0]


def test_a_model_without_chat_is_listed_with_its_operations(shipped):
    rows = render(shipped).partition("<tbody>")[2].split("<tr")
    row = next(row for row in rows if "<code>whisper-1</code>" in row)
    assert "<code>openai.createTranscription</code>" in row
    assert "chip" not in row


def test_the_table_of_models_is_bounded(text):
    many = "  many: {provider: openrouter, credential: {bearer: a}}\n"
    text = text.replace("upstreams:", "upstreams:\n" + many + "  # ", 1)
    page = render(
        planned(text.replace("models: ", 'models:\n  "*": {to: [{upstream: many}]}\n  # ', 1))
    )
    assert page.count('<th scope="row">') == 200
    assert re.search(r"And [1-9][0-9]+ more\.", page)
    assert " more.</p>" not in render(planned(text.replace("  many:", "  # many:")))


def test_agents_have_their_settings_for_this_address(shipped):
    page = render(shipped)
    assert "<summary>Claude Code</summary>" in page
    assert "export ANTHROPIC_BASE_URL=http://gateway:8080\n" in page
    assert "base_url = &quot;http://gateway:8080/v1&quot;" in page
    assert "@MODEL@" not in page


def test_agents_whose_format_is_not_routed_are_missing(text):
    page = render(planned(re.sub(r"\n *- anthropic\.createMessage\b.*", "", text)))
    assert "<summary>Codex</summary>" in page
    assert "<summary>Claude Code</summary>" not in page
