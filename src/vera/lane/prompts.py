"""Prompt templates: files under `vera/prompts/<profile>/`."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

PACKAGED = Path(__file__).parent.parent / "prompts"
DEFAULT_PROFILE = "en"


class PromptError(Exception):
    """A profile or template is not there or cannot be filled in: a sentence for the person."""


def profiles() -> list[str]:
    """The names of the packaged profiles."""
    return sorted(path.name for path in PACKAGED.iterdir() if path.is_dir() and not path.name.startswith("_"))


class Prompts:
    """The templates of one profile.

    A template that the profile does not have is taken from the default profile. A name that a template
    uses and no one gave is an error, never an empty string.
    """

    def __init__(self, profile: str = DEFAULT_PROFILE) -> None:
        if profile not in profiles():
            raise PromptError(f"There is no prompt profile {profile!r}. Known: {', '.join(profiles())}.")
        self._folders = (PACKAGED / profile, PACKAGED / DEFAULT_PROFILE)

    def render(self, name: str, **values: Any) -> str:
        """The template `name` filled in, without surrounding white space. Raises PromptError."""
        from jinja2 import TemplateError

        try:
            template = _environment(self._folders).get_template(f"{name}.md.j2")
            return str(template.render(**values)).strip()
        except TemplateError as error:
            raise PromptError(f"The prompt template {name}.md.j2 cannot be filled in: {error}.") from error

    def compile_all(self) -> None:
        """Compile every template now, for a process whose forks then find them."""
        environment = _environment(self._folders)
        for name in environment.list_templates():
            environment.get_template(name)

    def sha256(self, *names: str) -> str:
        """One hash over the source of the named templates, in order."""
        digest = hashlib.sha256()
        for name in names:
            for folder in self._folders:
                path = folder / f"{name}.md.j2"
                if path.is_file():
                    digest.update(path.read_bytes() + b"\0")
                    break
        return digest.hexdigest()


@cache
def _environment(folders: tuple[Path, ...]) -> Any:
    from jinja2 import FileSystemLoader, StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    return SandboxedEnvironment(
        loader=FileSystemLoader([str(folder) for folder in folders]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
        autoescape=False,  # the output is a prompt for a model, not a page
    )
