"""From specs to doit tasks: the plan, slices, paths, the loader and the build command."""
