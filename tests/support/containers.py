"""Small mails, mailboxes and archives, sound and hostile."""

import io
import tarfile
import zipfile
from collections.abc import Mapping
from email.message import EmailMessage
from typing import Any

FROM_LINE = b"From ada@example.org Thu Jan  1 10:00:00 2026\n"


def mail(subject: str, body: str, attached: Mapping[str, bytes] | None = None) -> bytes:
    """A mail as a program sends it."""
    message = EmailMessage()
    message["From"] = "Ada <ada@example.org>"
    message["To"] = "Ben <ben@example.org>"
    message["Date"] = "Thu, 01 Jan 2026 10:00:00 +0000"
    message["Subject"] = subject
    message.set_content(body)
    for name, data in (attached or {}).items():
        message.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    return message.as_bytes()


def mbox(*mails: bytes) -> bytes:
    """A mailbox."""
    return b"".join(FROM_LINE + each + b"\n" for each in mails)


def zipped(members: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip archive; its names are taken as they are."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return held.getvalue()


def tarred(members: Mapping[str, bytes], mode: str = "w", *special: tarfile.TarInfo) -> bytes:
    """A tar archive, with members that are no files after the others."""
    held = io.BytesIO()
    open_archive: Any = tarfile.open  # whose stub wants a literal mode
    with open_archive(fileobj=held, mode=mode) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for info in special:
            archive.addfile(info)
    return held.getvalue()
