"""Quantities in closed form: of mechanisms and Lagrangians, changed and linear, each verified."""
