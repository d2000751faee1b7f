"""Sign-in of people to the pages, by OpenID Connect (Core 1.0), without HTTP and without pages.
Read `page_sign_in.py` first; `cookie_sessions.py` finds the caller of a request of a page.
"""
