"""From expressions to a checked program, and from it to targets, one per file; nothing here knows
mechanics.
"""
