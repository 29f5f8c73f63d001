"""Several VMs at a time: a process and a resource group for each, and one dataset at the end."""
