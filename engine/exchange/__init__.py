"""One request as a typed value: its body, its record, and the services that its stages share. Read
`exchange.py` first; `member_protocols.py` has the Protocols of objects from higher rooms.
"""
