"""The files of examples/jobs: the cases of each pass, each is short, and the page lists all."""

import re

import pytest

from tests.support.commands import modelway
from tests.support.paths import ROOT

FILES = sorted((ROOT / "examples/jobs").glob("*.yaml"))
PAGE = (ROOT / "docs/explanation/jobs.md").read_text("utf-8")
SECRETS = {"WEBHOOK_SECRET": "whsec_" + "a2V5" * 8}
MAX_LINES = 30


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_cases_of_a_job_pass(file, monkeypatch):
    text = file.read_text("utf-8")
    for variable in re.findall(r"\$\{([A-Z_0-9]+)\}", text):
        monkeypatch.setenv(variable, SECRETS.get(variable, "example"))
    result = modelway("test", "-c", str(file))
    assert result.exit_code == 0, result.output
    config, cases = text.split("\ntests:\n")
    assert len(config.splitlines()) <= MAX_LINES
    assert cases.count("- name:") == result.output.count("ok    ") > 0


def test_the_page_lists_every_file_with_its_title():
    listed = re.findall(r"^\| (\d+) \| (.+?) \| `(.+?)` \|", PAGE, re.MULTILINE)
    assert [(int(number), title, file) for number, title, file in listed] == [
        (number, file.read_text("utf-8").partition("\n")[0].removeprefix("# "), file.name)
        for number, file in enumerate(FILES, 1)
    ]


def test_forty_jobs_are_named():
    numbers = [int(number) for number in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)]
    assert numbers == [*range(1, 41)]
