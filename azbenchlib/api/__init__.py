"""The functions for everyday use in Python: what the verbs of the command line do, as objects.

Their names, parameters and meaning stay within a major version, before 1.0 within a minor one.
"""
