"""From formulations to programs: quantities traced on symbols, once or once per kind of body. Knows
no native code.
"""
