# click_logs_doc.sh - the examples of docs/click-logs.md.
. "$(dirname "$0")/common.bash"
. "$(dirname "$0")/pages.bash"
PATH=$(dirname "$OLTR"):$PATH
run_page "$SOURCE/docs/click-logs.md" 7 15
