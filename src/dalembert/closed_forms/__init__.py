"""Closed forms of the equations of motion that people can read: formulations meet the reader."""
