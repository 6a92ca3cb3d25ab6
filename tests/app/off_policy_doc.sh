# off_policy_doc.sh - the examples of docs/off-policy.md.
. "$(dirname "$0")/common.bash"
. "$(dirname "$0")/pages.bash"
PATH=$(dirname "$OLTR"):$PATH
run_page "$SOURCE/docs/off-policy.md" 2 11
