"""Two examples of every command, shown at the end of its help. A test holds that each can be typed."""

import click

EXAMPLES: dict[str, tuple[str, str]] = {
    "run": (
        'vera run "When do patent licences end?" --input-dir examples/licences',
        'vera run "What is the notice period?" --input-dir contracts --require verified',
    ),
    "ask": (
        'vera ask --session work/first "And in GPL version 2?"',
        'vera ask --session work/first --thesis "The licence ends when I go to court."',
    ),
    "verify": (
        'vera verify "The lease ends in 2027." --input-dir contracts',
        "vera verify --thesis @thesis.txt --input-dir contracts --budget-seconds 120 --json",
    ),
    "check": (
        "vera check report.md --sources sources --strict",
        "vera check report.md --fetch --max-links 20 --json",
    ),
    "recheck": (
        "vera recheck work/first",
        "vera recheck work --fetch --json",
    ),
    "resume": (
        "vera resume work/first",
        "vera resume work/first --max-steps 200 --budget-seconds 600",
    ),
    "batch": (
        "vera batch tasks.jsonl --slots 4",
        "vera batch run tasks.jsonl --retry-failed --json",
    ),
    "batch run": (
        "vera batch run tasks.jsonl --require verified",
        "vera batch run tasks.jsonl --limit http://127.0.0.1:1234=2 --budget-seconds 300",
    ),
    "batch status": (
        "vera batch status",
        "vera batch status --base-dir research --json",
    ),
    "batch requeue": (
        "vera batch requeue",
        "vera batch requeue lease-2024 --json",
    ),
    "batch cancel": (
        "vera batch cancel lease-2024",
        "vera batch cancel --all",
    ),
    "table": (
        "vera table --questions questions.csv --input contracts --out contracts.html",
        "vera table --questions questions.csv --input contracts --out contracts.xlsx --slots 2",
    ),
    "eval": (
        "vera eval questions.jsonl --first 20",
        "vera eval --generate data --count 100 --seed 7",
    ),
    "list": (
        "vera list",
        "vera list --base-dir research --json",
    ),
    "watch": (
        "vera watch work/first",
        "vera watch work/first --plain",
    ),
    "show": (
        "vera show work/first",
        "vera show work/first --evidence ev_0003",
    ),
    "report": (
        "vera report work/first --html -o report.html",
        "vera report work/first --markdown -o report.md",
    ),
    "dashboard": (
        "vera dashboard",
        "vera dashboard --base-dir research --port 8900 --no-open",
    ),
    "stack": (
        "vera stack up",
        "vera stack down",
    ),
    "stack up": (
        "vera stack up",
        "vera stack up --base-dir research --max-steps 40",
    ),
    "stack down": (
        "vera stack down",
        "vera stack down --keep-runs",
    ),
    "replay": (
        "vera replay work/first",
        "vera replay first.zip --trust colleague.pub --json",
    ),
    "review": (
        "vera review work/first",
        'vera review work/first --claim 1 --disagree --note "The amendment says three months."',
    ),
    "trust": (
        "vera trust add Ana ana.pub",
        "vera trust list",
    ),
    "trust add": (
        "vera trust add Ana ana.pub",
        'vera trust add "Ana at work" 3b1f6c0d2a9e4857',
    ),
    "trust list": (
        "vera trust list",
        "vera trust list --json",
    ),
    "trust remove": (
        "vera trust remove Ana",
        'vera trust remove "Ana at work"',
    ),
    "key": (
        "vera key",
        "vera key --json",
    ),
    "export": (
        "vera export work/first --bundle first.zip",
        "vera export work/first --trajectory -o first.traj.json",
    ),
    "mcp": (
        "vera mcp --input-dir contracts --print-config",
        "vera mcp --input-dir contracts --egress none",
    ),
    "serve": (
        "vera serve --input-root contracts",
        "vera serve --input-root contracts --slots 4 --budget-seconds 600",
    ),
    "token": (
        "vera token add laptop",
        "vera token list",
    ),
    "token add": (
        "vera token add laptop",
        "vera token add ci --scope verify --per-hour 100",
    ),
    "token list": (
        "vera token list",
        "vera token list --json",
    ),
    "token remove": (
        "vera token remove laptop",
        "vera token remove ci --token-file tokens.json",
    ),
    "metrics": (
        "vera metrics work/first",
        "vera metrics work/first work/second",
    ),
    "index": (
        "vera index contracts",
        "vera index contracts --status --json",
    ),
    "models": (
        "vera models",
        "vera models pull qwen2.5-1.5b",
    ),
    "models pull": (
        "vera models pull qwen2.5-1.5b",
        "vera models pull Qwen/Qwen2.5-1.5B-Instruct-GGUF:qwen2.5-1.5b-instruct-q4_k_m.gguf",
    ),
    "models remove": (
        "vera models remove qwen2.5-1.5b",
        "vera models remove granite-3.3-2b",
    ),
    "plugins": (
        "vera plugins",
        "vera plugins --json",
    ),
    "build": (
        "vera build",
        "vera build --browser --no-cache",
    ),
    "doctor": (
        "vera doctor",
        "vera doctor --sandbox",
    ),
    "config": (
        "vera config budget",
        "vera config --origin --json",
    ),
    "rm": (
        "vera rm work/first",
        "vera rm work/first work/second --yes",
    ),
    "gc": (
        "vera gc --older-than 30d",
        "vera gc --larger-than 500MB --keep-verified",
    ),
    "completion": (
        "vera completion bash >> ~/.bashrc",
        "vera completion fish > ~/.config/fish/completions/vera.fish",
    ),
    "advanced": (
        "vera advanced bench judge",
        "vera advanced rebuild work/first",
    ),
    "worker": (
        "vera worker --engine postgresql://db.example.org/vera --store /srv/vera",
        "vera worker --engine postgresql://db.example.org/vera --store /srv/vera --slots 2 --drain",
    ),
    "ahdb": (
        "vera ahdb show",
        "vera ahdb history --json",
    ),
    "ahdb show": (
        "vera ahdb show",
        "vera ahdb show --base-dir research --json",
    ),
    "ahdb history": (
        "vera ahdb history",
        "vera ahdb history --base-dir research --json",
    ),
    "ahdb propose": (
        'vera ahdb propose hypothesize "The lease ends in 2027." --test "look up the date in the contract"',
        'vera ahdb propose drive "Know every notice period." --priority 2',
    ),
    "ahdb retract": (
        'vera ahdb retract 3 --reason "The amendment says otherwise."',
        'vera ahdb retract 4 --reason "No longer wanted." --base-dir research',
    ),
    "rebuild": (
        "vera rebuild work/first",
        "vera rebuild research/work/second",
    ),
    "bench": (
        "vera bench judge",
        "vera bench judge --model-file model.gguf --papers 3",
    ),
    "attest": (
        "vera attest report.pdf --type https://example.org/v1 --predicate review.json -o report.intoto.json",
        "vera attest report.pdf --check report.intoto.json",
    ),
    "bench judge": (
        "vera bench judge",
        "vera bench judge --model-file model.gguf --papers 3",
    ),
}
"""Words of a command → two lines that can be typed."""


def show_examples(words: str, command: click.Command) -> None:
    """End the help of a command, and of those below it, with its examples; `words` are those after `vera`."""
    from vera.cli.exit import as_typed

    if words in EXAMPLES:
        lines = "\n".join(f"  {as_typed(line)}" for line in EXAMPLES[words])
        command.epilog = f"\b\nExamples:\n{lines}"
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            show_examples(f"{words} {name}", below)
