"""Text with positions: YAML and JSON read so that every value knows its line and column, and the
`Problem` that points at one. Read `reader.py` first.
"""
