"""The place of an expectation that is missed."""

from tests.support.judged_cases import FILE, result_of


def test_a_miss_tells_place_expectation_and_finding(project):
    (failure,) = result_of(project, {"status": 200, "model": "other"}).failures
    text = (project.plan.config.folder / FILE).read_text().splitlines()
    assert text[failure.place.line - 1].strip() == "model: other"
    assert str(failure) == (
        f'a.test.yaml:{failure.place.line}:12: model: expected "other", found "real-big"'
    )
