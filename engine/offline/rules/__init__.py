"""The rules of the audit. One file, one rule, one code."""
