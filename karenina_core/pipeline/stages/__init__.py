"""The thirteen stages, one file each."""
