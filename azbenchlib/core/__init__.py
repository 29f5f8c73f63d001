"""What every floor stands on: errors, units, files, the tables, exact histograms."""
