"""The words that a setup may be described with. Models need them without the tables, which take pandas."""

ENVIRONMENTS = ("azure", "lab", "local", "other")
ROLES = ("os", "data", "temp", "nvme", "ephemeral_os")
HOST_CACHING = ("None", "ReadOnly", "ReadWrite")
DEFAULT_REGION = "westeurope"  # of which most prices are shipped
BLOCK_SIZES = ("4k", "8k", "16k", "64k", "256k", "1M")  # for which limits are shown where none are named
