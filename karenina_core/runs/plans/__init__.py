"""What a run is to do, and what it is going to take."""
