"""Languages that programs are written in."""
