"""Panels of the page beside the scene."""
