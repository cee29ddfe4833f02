"""Bodies and joints as solids, and solids as triangles."""
