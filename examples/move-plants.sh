#!/usr/bin/env bash
# Copies the plants of one database to another, then compares both: see docs/import-and-export.md. Run again, it imports
# only what copied.ndjson lacks.
set -euo pipefail
from=$1 to=$2
# An export writes every digit of an id, even if the request wrote 1e18.
export BODY_LIMIT=${BODY_LIMIT:-32768} LC_ALL=C

touch copied.ndjson
env "$from" npx plant-store export > all.ndjson
comm -13 <(sort copied.ndjson) <(sort all.ndjson) > missing.ndjson
# The comparison decides whether everything is there.
env "$to" npx plant-store import missing.ndjson || true
env "$to" npx plant-store export > copied.ndjson
cmp all.ndjson copied.ndjson
echo 'the databases are equal'
