"""Every command: its group in the help, where it is defined, and its line."""

GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Ask and verify": {
        "run": ("vera.cli.run:run", "Answer a question, with every statement cited."),
        "ask": ("vera.cli.ask:ask", "Ask a question, or check a thesis, that follows a finished session."),
        "verify": ("vera.cli.verify:verify", "Verify a thesis: evidence cards and a signed attestation."),
        "check": (
            "vera.cli.check:check",
            "Check a document's quotations, numbers and names against its sources.",
        ),
        "recheck": ("vera.cli.recheck:recheck", "Say which cited lines have changed since they were cited."),
        "resume": ("vera.cli.resume:resume", "Go on with an interrupted run."),
        "batch": ("vera.cli.batch:batch", "Run many tasks, each in its own session."),
        "table": ("vera.cli.table:table", "Ask each document of a folder the same questions: a table."),
        "eval": (
            "vera.cli.eval:evaluate",
            "Ask questions whose answers are known, and say how often VERA is right.",
        ),
    },
    "Read and watch": {
        "list": (
            "vera.cli.list:list_sessions",
            "List sessions: state, verdict, steps, time and task of each.",
        ),
        "watch": ("vera.cli.watch:watch", "Watch a run in the terminal."),
        "show": ("vera.cli.show:show", "Show a session: its answer, and the bytes behind each citation."),
        "report": ("vera.cli.report:report", "Write a run into one HTML file, to read, mail and print."),
        "dashboard": ("vera.cli.dashboard:dashboard", "Watch, start and stop runs in the browser."),
        "stack": ("vera.cli.stack:stack", "Start or stop the dashboard in the background, sandbox checked."),
    },
    "Check and share proofs": {
        "replay": (
            "vera.cli.replay:replay",
            "Check a session or bundle: every byte, verdict and text, offline.",
        ),
        "review": ("vera.cli.review:review", "Say whether a claim is right, signed beside its proof."),
        "trust": ("vera.cli.trust:trust", "Say whose signatures you trust, by name."),
        "key": ("vera.cli.key:key", "Print your public key and its id, for those who check your sessions."),
        "export": ("vera.cli.export:export", "Write a session into a file for others, or send its trace."),
    },
    "Serve other programs": {
        "mcp": ("vera.cli.mcp:mcp", "Serve verification to another agent (Model Context Protocol)."),
        "serve": ("vera.cli.serve:serve", "Serve verification, research and checks over HTTP."),
        "token": ("vera.cli.token:token", "Say who may use the service, and for what."),
        "metrics": ("vera.cli.metrics:metrics", "Print the Prometheus metrics of sessions."),
    },
    "Documents, models, this machine": {
        "index": ("vera.cli.index:index", "Bring the index of a folder of documents up to date."),
        "models": ("vera.cli.models:models", "List the models of this machine, and fetch a small one."),
        "plugins": (
            "vera.cli.plugins:plugins",
            "List the plugins that are installed, and which a run loads.",
        ),
        "build": ("vera.cli.build:build", "Build the image of the docker sandbox."),
        "doctor": ("vera.cli.doctor:doctor", "Say what this machine has, and how to get what is missing."),
        "config": ("vera.cli.config:config", "Print every setting and where it came from."),
        "rm": ("vera.cli.rm:rm", "Remove sessions, after asking."),
        "gc": ("vera.cli.gc:gc", "Remove old or large sessions, after asking."),
        "completion": (
            "vera.cli.completion:completion",
            "Print the script that completes commands in your shell.",
        ),
        "advanced": ("vera.cli.advanced:advanced", "List the commands that few people need."),
    },
}
"""Title of a group → command → (where it is defined, its line in `vera --help`). Two examples of each are in
`cli.examples`."""

ADVANCED = {
    "worker": ("vera.cli.worker:worker", "Run tasks of a batch on this machine, beside other machines."),
    "ahdb": ("vera.cli.ahdb:ahdb", "The register of verified statements, open questions and assumptions."),
    "rebuild": ("vera.cli.rebuild:rebuild", "Make the ledgers and notes of a session again from its log."),
    "bench": ("vera.cli.bench:bench", "Measure how well a model judges."),
    "attest": ("vera.cli.attest:attest", "Sign a statement about files, or check one."),
}
"""Commands of `vera advanced`. `vera NAME` runs them too, and the main help leaves them out."""

COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()} | ADVANCED
"""All that `vera NAME` runs."""
