"""Analysis of systems with constraints: freedoms, assembly, forces of drives, linear models."""
