"""Documents of companies, each checked and then served by a real gateway: `tox -e documents`.

Read `__main__.py` first. Requests are generated from a document, and judged, by code that shares
nothing with the engine.
"""
