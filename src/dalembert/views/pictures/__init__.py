"""Still pictures: shaded solids on a ground, with names."""
