#!/bin/sh
# Runs one of our programs on a machine that has nothing but Node and npm:
#   sh src/programs/start.sh <program.ts> [arguments]
# Installs the dependencies when they are missing or older than the lockfile. Bun replaces this shell,
# so signals reach the program itself.
set -eu
cd "$(dirname "$0")/../.."

installed=node_modules/.package-lock.json
if [ ! -e "$installed" ] || [ package-lock.json -nt "$installed" ]; then
  echo "Installing dependencies (npm ci) ..." >&2
  npm ci --no-audit --no-fund --loglevel=error >&2
fi

bun=node_modules/.bin/bun
# Where npm skips install scripts, the package's own one puts Bun's binary in place.
"$bun" --version >/dev/null 2>&1 || node node_modules/bun/install.js >&2

exec "$bun" "$@"
