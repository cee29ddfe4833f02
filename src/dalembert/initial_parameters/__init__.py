"""Elastic links as a hybrid system of ordinary and partial differential equations: Houbolt's method in
time, the initial-parameter method with Godunov's orthogonalisation along the links.
"""
