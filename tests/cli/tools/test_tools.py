"""The group `modelway tools`."""

from tests.support.commands import modelway


def test_without_the_name_of_a_command_it_shows_tools(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for words in ([], ["show"], ["create_order"], ["--server", "shop"]):
        assert "gateway.yaml" in modelway("tools", *words).output


def test_help_lists_its_commands():
    output = modelway("tools", "--help").output
    assert "pin" in output
    assert "show" in output
