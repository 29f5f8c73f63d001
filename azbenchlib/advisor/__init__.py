"""The cheapest VM with disks that meets a demand, its alternatives, and why nothing cheaper does."""
