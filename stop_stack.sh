#!/usr/bin/env bash
# Stops what start_stack.sh started: the dashboard, the runs that were started in it, and their sandboxes.
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd) || exit 1
exec "${PYTHON:-python3}" "$here/run.py" stack down --base-dir "$here" "$@"
