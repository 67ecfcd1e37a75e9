"""How well the checks without a model work: labelled data, planted faults, and pages to time them on."""
