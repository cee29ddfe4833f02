"""Reports, pages about a mechanism with its equations, checks, a motion and speeds."""
