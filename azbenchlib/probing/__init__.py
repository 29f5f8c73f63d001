"""What a disk is, found out by short runs of which each is the one that tells most: pure, no I/O."""
