"""Judgement whether a Python function depends on its arguments alone: its changes, and the memory
behind its results.
"""
