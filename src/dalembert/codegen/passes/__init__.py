"""Passes over blocks, which every target may use."""
