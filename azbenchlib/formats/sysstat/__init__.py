"""iostat, sar and sadf of sysstat."""
