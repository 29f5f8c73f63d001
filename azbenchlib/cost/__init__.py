"""What Azure counts for a setup, what that costs, and what it is for each unit delivered."""
