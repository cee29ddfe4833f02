"""Rotations, transforms, motion and force vectors, inertias, small linear algebra, over any scalar."""
