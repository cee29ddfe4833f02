"""Whether a Python function is a function of its arguments alone: what it changes, and what else
its results depend on.
"""
