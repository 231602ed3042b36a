"""Languages as data: detection, views, fetch and offline build steps."""
