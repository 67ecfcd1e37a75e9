"""The audit: an answer against its sources, without a model. Pure: values in, findings out.

The checks themselves are in `vera.audit.registry`: a run needs them when it has an answer.
"""

from vera.audit.case import AuditPolicy, Case, Lookup
from vera.audit.source_text import SourceText

__all__ = ["AuditPolicy", "Case", "Lookup", "SourceText"]
