#!/usr/bin/env bash
# Checks the sandbox and starts the dashboard in the background. Asks for the step budget of runs:
# 1 is unlimited, 2 a number (also from a pipe: printf '2\n30\n' | bash start_stack.sh); MAX_STEPS otherwise.
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd) || exit 1
exec "${PYTHON:-python3}" "$here/run.py" stack up --base-dir "$here" "$@"
