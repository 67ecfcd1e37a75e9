"""How long a context this machine's memory allows for a model file."""

import os
from pathlib import Path

from vera.model.gguf import GgufModel
from vera.model.servers.base import ROOMY_CONTEXT
from vera.model.types import ModelError

SMALLEST_CONTEXT = 4096
"""Tokens. A server with less is of no use to a run at all."""

STEP = 1024
WORKING_BYTES = 512 * 1024 * 1024
"""What llama.cpp needs besides weights and cache (compute buffers, vocabulary), and VERA itself."""

USABLE_SHARE = 0.9
MAX_PROMPT_CACHE_MIB = 4096
MIB = 1024 * 1024
PROC_MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")


def available_memory() -> int | None:
    """Bytes that a new process may use without swapping; None where the system does not say."""
    if free := _meminfo(PROC_MEMINFO):
        return min(free, _cgroup_room(CGROUP) or free)
    try:
        # macOS counts no available memory this way; its compressor and file cache give back about half.
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (OSError, ValueError):
        return None


def _meminfo(path: Path) -> int | None:
    try:
        for line in path.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def _cgroup_room(folder: Path) -> int | None:
    """Bytes left under a container's limit (cgroup v2), counting its file cache as free; None: no limit."""
    try:
        limit = int((folder / "memory.max").read_text())
        used = int((folder / "memory.current").read_text())
        stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        return max(1, limit - used + int(stat.get("inactive_file", 0)))
    except (OSError, ValueError):  # "max" is no number
        return None


def fitting_context(model: GgufModel, available: int | None, wanted: int | None = None) -> int:
    """Tokens of context for `model` with `available` bytes: `wanted`, or up to `ROOMY_CONTEXT`.

    Never more than the model was trained for. Raises ModelError when there is no room for the weights
    and a useful context, or for what was wanted.
    """
    most = min(wanted or ROOMY_CONTEXT, model.trained_context)
    if available is None:
        return most
    budget = int(available * USABLE_SHARE) - model.bytes - WORKING_BYTES
    fits = budget // max(1, model.cache_bytes_a_token)
    least = most if wanted else min(SMALLEST_CONTEXT, most)
    if fits < least:
        need = model.bytes + WORKING_BYTES + least * model.cache_bytes_a_token
        raise ModelError(
            f"Not enough memory for {model.path}: with a context of {least} tokens it needs about "
            f"{need // MIB} MiB, and {available // MIB} MiB are free. "
            "Close other programs, or take a smaller model or a stronger quantisation (Q4_K_M)."
        )
    return most if fits >= most else fits // STEP * STEP


def spare_mib(model: GgufModel, available: int | None, context_tokens: int) -> int:
    """MiB that may hold the prompts of lanes that wait their turn, at most `MAX_PROMPT_CACHE_MIB`."""
    if available is None:
        return 0
    used = model.bytes + WORKING_BYTES + context_tokens * model.cache_bytes_a_token
    return max(0, min(MAX_PROMPT_CACHE_MIB, (int(available * USABLE_SHARE) - used) // MIB))
