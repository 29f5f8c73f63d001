"""What all figures share: style, scales, labels, cells, SVG and what a script may do with it."""
