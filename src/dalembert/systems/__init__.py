"""Systems of equations of motion: the one interface that compiling, printing, simulating and
sweeping ask for.
"""
