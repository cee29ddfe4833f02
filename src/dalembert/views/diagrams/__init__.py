"""Diagrams of runs: panels of curves, by Matplotlib or as SVG."""
