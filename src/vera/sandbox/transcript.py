"""What `container.log` holds: each command with its bounded output, as bytes that are safe to append."""

from vera.sandbox.types import CommandResult

COMMAND_BYTES = 4096


def of_command(text: bytes, result: CommandResult) -> bytes:
    """One command, its output as far as it is kept, and how it ended."""
    if len(text) > COMMAND_BYTES:
        text = text[:COMMAND_BYTES] + b" [cut: %d bytes]" % len(text)
    kept = len(result.head) + len(result.tail)
    gap = b"\n[%d bytes not shown]\n" % (result.size - kept) if result.size > kept else b""
    output = result.head + gap + result.tail
    if output and not output.endswith(b"\n"):
        output += b"\n"
    ending = f"exit {result.exit_code}" if result.reason == "exited" else result.reason
    line = f"[{ending}, {result.size} bytes, {result.seconds:.3f} s, shell {result.shell}]\n"
    return b"$ " + text + b"\n" + output + line.encode()
