"""What leaves the workbench as a file."""
