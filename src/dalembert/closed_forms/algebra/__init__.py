"""Polynomials in normal form, and the sums of products with few terms that are printed of them."""
