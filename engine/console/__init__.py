"""The web pages: home, reference and playground. `pages.py` lists them; `page/` holds their HTML,
CSS and JavaScript modules, which need no build step.
"""
