"""The web pages: `pages.py` lists and serves them, read it first. `home.py`, `playground_api.py`,
`reference.py` (the API reference, with the schemas of `reference_components.py`) and `operations/`
have what one page shows, `activity/` the figures that `modelway top` shows too. `page/` holds their
HTML, CSS and JavaScript modules, which need no build step.
"""
