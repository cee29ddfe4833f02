"""Machine code of a mechanism or a function: formulations meet codegen."""
