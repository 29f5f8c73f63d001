"""What changes in the course of a run: windows, phases, steady state, credits, traces."""
