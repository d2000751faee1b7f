"""What needs no server. A folder for each command: the warnings of `check` (`check/`, with the
manual of all codes in `explanations/`), `explain` (`rehearsal/`), `test` (`cases/`), `diff` and
`import` (`imports/`); and the second opinion of openapi-core, for the first three. Read
`rehearsal/rehearse.py` first.
"""
