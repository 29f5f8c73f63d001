"""Azure's retail prices: books of dated rows, read from the public price list."""
