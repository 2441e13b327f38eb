"""When and how far a view is refreshed."""
