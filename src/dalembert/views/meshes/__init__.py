"""Meshes of robots, read from the folders of their models."""
