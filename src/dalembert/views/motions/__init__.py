"""Motions: pages, films and panels of pictures."""
