"""Pictures of a run as SVG, drawn on the server: they need no script and are styled by classes alone."""
