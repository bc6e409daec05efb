"""The list of benchmarks: what comes in, what goes out, what is wrong."""
