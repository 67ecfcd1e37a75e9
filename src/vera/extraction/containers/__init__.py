"""Containers: archives, mailboxes and mails, whose members are their own documents.

One file a kind; `walk` goes through all of them, `unpacker` is the process that does, and `unpacking` its
owner. A member is named after its container, `mail.mbox!/m000012.eml`, and found again by its place.
"""
