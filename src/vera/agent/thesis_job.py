"""What somebody asks to be verified, made into an inquiry about a folder of documents."""

from pathlib import Path
from typing import Any

from vera.agent.reuse import corpus_digest
from vera.agent.setup import input_folder
from vera.agent.verify import ThesisJob
from vera.attestation.objects import Lens
from vera.attestation.request import RequestError, request_of


def inquiry_of(
    thesis: object,
    folder: Path | None,
    lens: Lens,
    *,
    scope: object = None,
    follows: bool = False,
    **asked: Any,
) -> ThesisJob:
    """The inquiry; what is in `folder` now is part of it. Without a scope it looks at the folder where there
    is one, else at the web. One that `follows` a session looks at what carries over from it (`kb`), too, and
    at the web only when the scope says so. `asked` are further arguments of `request_of`.

    Raises RequestError for what cannot be asked, SetupError (2) when there is no such folder or it
    cannot be read.
    """
    if folder is not None:
        input_folder(folder)
    looked_in = scope if scope is not None else ("files" if folder else "kb" if follows else "web")
    if follows and isinstance(looked_in, str):
        looked_in = f"{looked_in},kb"
    elif follows and isinstance(looked_in, list | tuple):
        looked_in = [*looked_in, "kb"]
    corpus = corpus_digest(folder) if folder else ""
    request, budget = request_of(thesis, scope=looked_in, lens=lens, corpus=corpus, **asked)
    if folder is None and "files" in request.scope:
        raise RequestError("The scope names files, and no folder of files was given.")
    return ThesisJob(request=request, lens=lens, budget=budget, input_dir=folder)
