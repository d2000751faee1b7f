"""Agents and SDKs as data: ONE FILE HERE = ONE PROGRAM THAT CALLS THE GATEWAY, `NAME.yaml`, and no
code. `engine/config/agents.py` reads the files and says what their members mean.
"""
