"""Raw output to tables: a folder a tool; :mod:`.registry` is their list."""
