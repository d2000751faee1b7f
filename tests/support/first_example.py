"""Hypothesis reads all characters, and the constants of each imported module, before its first
random examples: 3 seconds in a new checkout, a third of one later.

To import this module draws such examples. The gate's groups are copies of a process that has.
"""

from hypothesis import given, settings
from hypothesis import strategies as st


@settings(max_examples=100, database=None, deadline=None, derandomize=True)
@given(st.text(st.characters(codec="utf-8")), st.text(), st.integers())
def draw(encodable: str, text: str, number: int) -> None:
    """Nothing is asserted."""


draw()
