"""From expressions to a checked program, and from it to targets, a file for each; nothing here
knows mechanics.
"""
