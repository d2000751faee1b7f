"""Results of cases as text, JSON, JUnit's XML for CI, and GitHub's annotations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from engine.offline.cases.run import Result
from engine.source.excerpt import annotation, printable


def line(result: Result) -> str:
    """A result as a line, followed by the expectations that are not met."""
    head = f"{'ok  ' if result.passed else 'FAIL'}  {result.case.name}"
    below = [f"      {failure}" for failure in result.failures]
    if result.failures and result.refusal:
        below.append(f"      the gateway: {result.refusal}")
    below += [f"      warning: {warning}" for warning in result.warnings]
    return "\n".join(map(printable, [head, *below]))


def summary(results: Sequence[Result]) -> str:
    """`12 passed, 1 failed`."""
    failed = sum(not result.passed for result in results)
    text = f"{len(results) - failed} passed"
    return f"{text}, {failed} failed" if failed else text


def as_json(results: Sequence[Result]) -> str:
    """`{passed, failed, tests}`; each test is `{name, passed, file, line, column, seconds, refusal,
    warnings, failures}`."""
    failed = sum(not result.passed for result in results)
    tests = [
        {
            "name": result.case.name,
            "passed": result.passed,
            **result.case.place()._asdict(),
            "seconds": round(result.seconds, 6),
            "refusal": result.refusal,
            "warnings": list(result.warnings),
            "failures": [
                {
                    **failure.place._asdict(),
                    "expectation": failure.expectation,
                    "expected": failure.expected,
                    "actual": failure.actual,
                }
                for failure in result.failures
            ],
        }
        for result in results
    ]
    document = {"passed": len(results) - failed, "failed": failed, "tests": tests}
    return json.dumps(document, indent=2, ensure_ascii=False)


def as_github(results: Sequence[Result]) -> str:
    """Workflow commands: an error for each failed case, a warning for each warning; the summary."""
    lines = []
    for result in results:
        place = result.case.place()._asdict()
        text = "\n".join(filter(None, [*map(str, result.failures), result.refusal]))
        if not result.passed:
            lines.append(annotation("error", f"test: {result.case.name}", text, **place))
        title = f"test: {result.case.name}"
        lines += [annotation("warning", title, warning, **place) for warning in result.warnings]
    return "\n".join([*lines, summary(results)])


def as_junit(results: Sequence[Result]) -> str:
    """The XML that CI systems read: one test suite."""
    failed = sum(not result.passed for result in results)
    seconds = sum(result.seconds for result in results)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites><testsuite name="modelway" tests="{len(results)}" failures="{failed}" '
        f'errors="0" skipped="0" time="{seconds:.3f}">',
    ]
    for result in results:
        place = result.case.place()
        lines.append(
            f"<testcase classname={_quoted(place.file)} name={_quoted(result.case.name)} "
            f'file={_quoted(place.file)} line="{place.line}" time="{result.seconds:.3f}">'
        )
        if result.failures:
            lines_failed = "\n".join([*map(str, result.failures), result.refusal]).strip()
            first = _quoted(str(result.failures[0]))
            lines.append(f"<failure message={first}>{escape(_legal(lines_failed))}</failure>")
        if result.warnings:
            warnings = "\n".join(result.warnings)
            lines.append(f"<system-out>{escape(_legal(warnings))}</system-out>")
        lines.append("</testcase>")
    return "\n".join([*lines, "</testsuite></testsuites>"])


def _quoted(text: str) -> str:
    return quoteattr(_legal(text))


def _legal(text: str) -> str:
    """The text without the control characters that XML 1.0 (2.2) forbids."""
    return "".join(char if char >= " " or char in "\t\n" else "\ufffd" for char in text)
