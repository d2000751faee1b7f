"""Events for the webhooks of a config, kept in files until their receivers have them. Read
`outbox.py` first.
"""
