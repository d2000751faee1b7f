"""The web pages: home, reference and playground. Read `pages.py` first, which lists them; `page/`
holds their HTML, CSS and JavaScript modules, which need no build step.
"""
