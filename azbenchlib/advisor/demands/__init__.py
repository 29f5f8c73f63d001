"""What is asked for: a demand from options, a file, a preset or what a run achieved."""
