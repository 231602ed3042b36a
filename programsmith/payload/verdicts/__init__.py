"""Programs and build scripts of the submissions whose verdict is known in advance."""
