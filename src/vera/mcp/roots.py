"""Which folder a path of a caller lies in."""

import os
from pathlib import Path

from vera.mcp.service import Service, ToolError


def inside(service: Service, path: str) -> tuple[Path, str]:
    """The root that a path lies in, and its way from there; a relative path starts at the documents, or at
    the base where there are none. Whether something is there, and no link, is found out when it is opened.

    Raises ToolError for a path that leads elsewhere, and for hidden files: settings and keys lie in such.
    """
    roots = [root for root in (service.input_dir, service.base) if root is not None]
    absolute = Path(os.path.normpath(roots[0] / path))
    for root in roots:
        if absolute != root and absolute.is_relative_to(root):
            relative = absolute.relative_to(root)
            if any(part.startswith(".") for part in relative.parts):
                raise ToolError("Hidden files and folders are not read.")
            return root, relative.as_posix()
    raise ToolError("The path leads out of the folders of this service. Give one inside of them.")
