"""One question asked of paper-qa, for the table of `benchmarks/peers.py`.

    PYTHON benchmarks/peer_paperqa.py FOLDER QUESTION BASE_URL EMBEDDING_URL CACHE

Runs under the Python that has `paper-qa` installed; the key of the model is in OPENAI_API_KEY. The files of
the folder are added with their names as citations, so that no index of papers is asked, in chunks that the
embedding model reads whole; without an EMBEDDING_URL they are found by paper-qa's own sparse embedding. The
added documents are kept in CACHE for the next question; with an empty QUESTION that is all. Prints one JSON
object: the answer, what it cites as pairs of file and text, and the tokens.
"""

import asyncio
import json
import os
import pickle
import sys
from pathlib import Path

from paperqa import Docs, Settings

CHUNK_CHARACTERS = 1500
OVERLAP = 100
MAX_COMPLETION_TOKENS = 512
FOLDER, QUESTION, BASE_URL, EMBEDDING_URL, CACHE = sys.argv[1:]


def settings() -> Settings:
    """A model and an embedding behind addresses, everything else as paper-qa has it."""
    server = {
        "api_base": BASE_URL,
        "api_key": os.environ["OPENAI_API_KEY"],
        "max_tokens": MAX_COMPLETION_TOKENS,
    }
    model = {"model_list": [{"model_name": "local", "litellm_params": {"model": "openai/local", **server}}]}
    embedding = {"kwargs": {"api_base": EMBEDDING_URL, "api_key": os.environ["EMBEDDING_KEY"]}}
    made = Settings(
        llm="local",
        llm_config=model,
        summary_llm="local",
        summary_llm_config=model,
        embedding="openai/local" if EMBEDDING_URL else "sparse",
        embedding_config=embedding if EMBEDDING_URL else None,
    )
    made.parsing.use_doc_details = False
    made.parsing.reader_config = {"chunk_chars": CHUNK_CHARACTERS, "overlap": OVERLAP}
    return made


async def documents(made: Settings) -> Docs:
    """The folder, from the cache where it is there."""
    cache = Path(CACHE)
    if cache.exists():
        return pickle.loads(cache.read_bytes())
    docs = Docs()
    for path in sorted(Path(FOLDER).iterdir()):
        await docs.aadd(path, citation=path.name, docname=path.name, settings=made)
    cache.write_bytes(pickle.dumps(docs))
    return docs


async def main() -> None:
    made = settings()
    docs = await documents(made)
    if not QUESTION:
        return
    session = await docs.aquery(QUESTION, settings=made)
    cited = [
        (each.text.doc.docname, each.text.text)
        for each in session.contexts
        if each.id in session.used_contexts
    ]
    counts = session.token_counts.values()
    tokens = {"prompt": sum(each[0] for each in counts), "tokens": sum(each[1] for each in counts)}
    print(json.dumps({"answer": session.answer, "cited": cited, **tokens}))


if __name__ == "__main__":
    asyncio.run(main())
