"""A fake Azure on this machine: a resource manager for the real `az`, with VMs whose scripts run."""
