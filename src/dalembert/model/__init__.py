"""Mechanism, its parts, its joints, and their validation."""
