"""The compiler: turns a model's SQL and the keys of its inputs into a maintenance plan."""
