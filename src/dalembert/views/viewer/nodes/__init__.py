"""Nodes of the scene, and how they move."""
