"""Programs as machine code: compiled, cached, loaded and called on arrays. Nothing here knows
mechanics.
"""
