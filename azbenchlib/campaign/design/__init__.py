"""How a campaign is laid out: which run comes next, how often what is measured, and when it is enough."""
