"""The words that a setup may be described with. Models need them without the tables, which take pandas."""

ENVIRONMENTS = ("azure", "lab", "local", "other")
ROLES = ("os", "data", "temp", "nvme", "ephemeral_os")
HOST_CACHING = ("None", "ReadOnly", "ReadWrite")
