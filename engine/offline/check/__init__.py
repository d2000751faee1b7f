"""What `check` has beside the problems of the plan: the audit, a rule a file in `rules/`, and which
warnings are silenced or lowered. Read `audit.py` first.
"""
