"""What the readers of all kinds of credentials check alike."""

from pathlib import Path

from tests.support.credentials import Problems


def test_a_text_for_a_header_is_one_line_of_ascii() -> None:
    problems = Problems()
    assert [problems.context(Path()).text(value, ("a",)) for value in ("a b", "ä", "a\n")] == [
        "a b",
        "ä",
        "a\n",
    ]
    message = "a credential holds printable ASCII characters only"
    assert problems.noted == [(("a",), message, "", "MW105")] * 2


def test_files_are_relative_to_the_folder_of_the_config(tmp_path: Path) -> None:
    (tmp_path / "key.json").touch()
    problems = Problems()
    context = problems.context(tmp_path)
    assert context.file("key.json", ("a",)) == tmp_path / "key.json"
    assert problems.noted == []
    context.file("other.json", ("a",))
    assert problems.noted == [(("a",), "there is no file 'other.json'", "", "MW106")]


def test_a_file_whose_name_is_too_long_does_not_exist(tmp_path: Path) -> None:
    """Before Python 3.14 `Path.is_file` raises for it."""
    problems = Problems()
    problems.context(tmp_path).file("a" * 300, ("a",))
    assert [code for *_, code in problems.noted] == ["MW106"]
