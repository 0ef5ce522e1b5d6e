"""The main command: measure one model or several, and leave a run folder for each."""
