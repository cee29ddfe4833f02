"""Formulations of the equations of motion: siblings with the same call shapes, none imports
another.
"""
