"""Programs in each chat format, for a first call and for the playground."""

import subprocess

import pytest

from engine.console.chat_formats import routed_formats
from engine.console.code_snippets import programs, snippets


@pytest.mark.parametrize("model", ["gpt-4o", 'it\'s "odd" $HOME `x`'])
def test_snippets_are_programs(shipped, model, tmp_path):
    for routed in routed_formats(shipped):
        curl, python, script = (program for _, program in snippets(routed, "http://h:1", model))
        compile(python, "snippet", "exec")
        (tmp_path / "s.sh").write_text(curl)
        assert subprocess.run(["bash", "-n", tmp_path / "s.sh"], check=False).returncode == 0
        assert "TOKEN" in curl
        assert "TOKEN" in python
        assert "process.env.TOKEN" in script


def test_a_snippet_contains_the_url_and_the_model(shipped):
    chat = next(routed for routed in routed_formats(shipped) if routed.name == "chat")
    for language, program in snippets(chat, "http://h:1", "gpt-4o"):
        assert "http://h:1/v1" in program, language
        assert "gpt-4o" in program, language


def test_programs_have_the_base_url_and_version_of_their_format(shipped):
    by_name = {routed.name: programs(routed, "http://h:1") for routed in routed_formats(shipped)}
    assert '"http://h:1/v1"' in by_name["chat"]["python"]["start"]
    assert '"http://h:1"' in by_name["generate"]["javascript"]["start"]
    assert '"v1beta"' in by_name["generate"]["javascript"]["start"]
