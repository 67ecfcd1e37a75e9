"""The text of a PDF, as a reader would copy it."""

import pypdfium2


def text_of_pdf(data: bytes) -> str:
    """The text of all pages."""
    document = pypdfium2.PdfDocument(data)
    try:
        return "\n".join(page.get_textpage().get_text_range() for page in document)
    finally:
        document.close()
