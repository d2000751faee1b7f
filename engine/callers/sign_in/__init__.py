"""Sign-in of people to the pages, by OpenID Connect (Core 1.0), without HTTP and without pages.
Read `authorization_code.py` first; `cookie_sessions.py` finds the caller of a request of a page.
"""
