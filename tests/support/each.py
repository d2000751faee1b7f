"""Many small cases as one test: `each` instead of `pytest.mark.parametrize`.

A test of its own costs milliseconds, a case of a table often microseconds. All cases run, and those
that fail come as one group of exceptions, each with a note that names its case.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

_MAX_NAME = 300
_Param = type(pytest.param())


def each(
    names: str | Sequence[str],
    cases: Iterable[Any],
    ids: Callable[[Any], object] | Iterable[object] | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for each of `cases`, with the arguments of `pytest.mark.parametrize`. Fixtures are
    set up once for all cases. ValueError without a case: such a test could not fail."""
    split = names.split(",") if isinstance(names, str) else names
    parameters = [name.strip() for name in split]
    table = [_case(case, len(parameters)) for case in cases]
    if not table:
        raise ValueError(f"there is no case of {names}")
    labels = None if ids is None or callable(ids) else [*ids]

    def label(index: int) -> object:
        values, name = table[index]
        if labels:
            return labels[index]
        values_text = ", ".join(str(ids(v)) if callable(ids) else repr(v) for v in values)
        return name or values_text[:_MAX_NAME]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            failures: list[BaseException] = []
            for index, (values, _) in enumerate(table):
                try:
                    test(**fixtures, **dict(zip(parameters, values, strict=True)))
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - raised below
                    error.add_note(f"case: {label(index)}")
                    failures.append(error)
            if failures:
                message = f"{len(failures)} of {len(table)} cases of {test.__name__}"
                raise BaseExceptionGroup(message, failures)

        signature = inspect.signature(test)
        rest = [p for name, p in signature.parameters.items() if name not in parameters]
        run.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]
        return run

    return decorate


def _case(case: Any, count: int) -> tuple[Sequence[Any], str | None]:
    """The values of a case and its name, if it has one of its own."""
    if not isinstance(case, _Param):
        return ((case,) if count == 1 else case), None
    if case.marks:
        raise ValueError(f"a case of one test has no marks: {case}")
    return case.values, case.id
