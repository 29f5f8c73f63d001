"""Options that several verbs share, and the examples of their help."""
