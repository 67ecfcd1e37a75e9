"""The audit: an answer against its sources, without a model. Pure: values in, findings out."""

from vera.audit.case import AuditPolicy, Case, Lookup
from vera.audit.registry import VERSION, audit
from vera.audit.source_text import SourceText

__all__ = ["VERSION", "AuditPolicy", "Case", "Lookup", "SourceText", "audit"]
