"""Facts of Azure, dated and sourced, and the program az."""
