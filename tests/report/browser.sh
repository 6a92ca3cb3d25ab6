# browser.sh - runs a tour of three experiments of the project, and looks at its report without and with a browser.
# The experiments are found beside the program, as a user finds them.  usage: browser.sh OLTR WORKDIR PYTHON
set -eu
oltr=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
mkdir -p "$2"
cd "$2"
command -v chromium >/dev/null || { echo "skipped: no chromium"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
rm -rf tour
"$oltr" reproduce --quick -q -o tour noncontextual misspecification concentration
"$3" "$here/check.py" tour
exec "$3" "$here/browser.py" tour pictures
