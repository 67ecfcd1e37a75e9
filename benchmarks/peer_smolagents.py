"""One question asked of smolagents' CodeAgent, for the table of `benchmarks/peers.py`.

    PYTHON benchmarks/peer_smolagents.py FOLDER QUESTION BASE_URL

Runs under the Python that has `smolagents[openai]` installed, beside VERA's own; the key is read from
OPENAI_API_KEY. The agent has two tools over the same folder: the lines that hold most of some words, and the
lines of a file. Prints the answer and its tokens as one JSON object.
"""

import json
import os
import re
import sys
from pathlib import Path

from smolagents import AgentError, CodeAgent, OpenAIServerModel, tool

MAX_STEPS = 6
"""As many turns as a person would wait for; smolagents' own default is 20."""

MAX_LINES = 12
MAX_COMPLETION_TOKENS = 512

FOLDER = Path(sys.argv[1])


@tool
def search(words: str) -> str:
    """Finds the lines that hold most of the words, as FILE:LINE: TEXT.

    Args:
        words: The words to look for.
    """
    wanted = set(re.findall(r"\w+", words.lower()))
    found = [
        (len(wanted & set(re.findall(r"\w+", line.lower()))), f"{path.name}:{number}: {line}")
        for path in sorted(FOLDER.iterdir())
        if path.is_file()
        for number, line in enumerate(path.read_text(errors="replace").split("\n"), 1)
    ]
    found.sort(key=lambda each: -each[0])
    return "\n".join(text for _, text in found[:MAX_LINES])


@tool
def read(file: str, first: int) -> str:
    """Reads twelve lines of a file, from the line `first` on.

    Args:
        file: The file's name.
        first: The number of the first line, from 1.
    """
    return "\n".join(
        (FOLDER / Path(file).name).read_text(errors="replace").split("\n")[first - 1 : first - 1 + MAX_LINES]
    )


def main() -> None:
    model = OpenAIServerModel(
        model_id="local",
        api_base=sys.argv[3],
        api_key=os.environ["OPENAI_API_KEY"],
        max_tokens=MAX_COMPLETION_TOKENS,
    )
    agent = CodeAgent(tools=[search, read], model=model, max_steps=MAX_STEPS, verbosity_level=0)
    try:
        answer = str(agent.run(sys.argv[2]))
    except AgentError as error:
        answer = f"{type(error).__name__}: {error}"
    spent = agent.monitor.get_total_token_counts()
    print(json.dumps({"answer": answer, "prompt": spent.input_tokens, "tokens": spent.output_tokens}))


if __name__ == "__main__":
    main()
