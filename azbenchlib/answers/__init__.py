"""One answer as one object: a document of figures, and a renderer for each surface."""
