"""The models that callers may ask for, and which targets have them. Read
`select_model.py` first.
"""
