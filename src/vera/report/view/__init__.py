"""What a person sees of a run, as values: for the dashboard, `vera watch` and the one-file report."""
