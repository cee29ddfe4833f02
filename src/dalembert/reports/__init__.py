"""Reports: one page about a mechanism, with its equations, checks, a motion and speeds."""
