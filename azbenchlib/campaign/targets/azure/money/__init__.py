"""What a run in Azure costs and how long it lasts: expected, spent, and at most."""
