"""How verbs print: one console, one form of findings, a view for each kind of answer."""
