"""Where cases come from: one module a source, each with `groups(level)`."""
