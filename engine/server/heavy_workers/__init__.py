"""Requests with large bodies, which workers pass to processes of their own: heavy workers. Read
`pass_requests.py` first.
"""
