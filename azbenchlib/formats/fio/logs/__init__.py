"""fio's logs of single I/Os, of windows with bins, and of histograms."""
