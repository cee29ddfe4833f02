"""Mechanisms from files, tables, texts and generators, and back to files."""
