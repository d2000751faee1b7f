"""Checks of a config without serving it: the audit (`audit.py`, `rules/`), the manual
of the problem codes (`explanations/`), one request played offline (`rehearsal/`), test cases
(`cases/`), the second opinion (`second_opinion/`) and the comparison of two configs (`diff/`). Read
`rehearsal/rehearse.py` first.
"""
