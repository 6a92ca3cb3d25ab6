# Completion of `oltr` in bash.  The program itself answers what may follow (`oltr --complete`), so
# this file has no list of commands, options or names that could be out of date.
#
# Installed as bash-completion/completions/oltr.  By hand: . <(oltr help --completion bash)

# Bash divides words at = and : too.  This joins what has no blank between, up to the cursor.
_oltr_words() {
    local line=${COMP_LINE:0:COMP_POINT} i joined
    words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        joined=$i
        while [[ $line == [[:space:]]* ]]; do
            line=${line:1} joined=0
        done
        [[ $i -lt $COMP_CWORD ]] && word=${COMP_WORDS[i]} || word=$line
        if [[ $joined -gt 0 ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
        line=${line#"$word"}
    done
}

_oltr() {
    local words word line option= kept= breaks=
    _oltr_words
    local current=${words[-1]} program=${words[0]/#\~\//$HOME/}
    [[ $current == --*=* ]] && option=${current%%=*}=
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
        :files | :folders)
            [[ $line == :files ]] && word=-f || word=-d
            compopt -o filenames
            mapfile -t COMPREPLY < <(compgen -P "$option" $word -- "${current#"$option"}")
            ;;
        *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done < <("$program" --complete "${words[@]:1}" 2>/dev/null)
    [[ ${#COMPREPLY[@]} -eq 1 && $COMPREPLY == *[=.] ]] && compopt -o nospace
    # Bash replaces only what follows the last = or : of the word.
    [[ $COMP_WORDBREAKS == *=* ]] && breaks+==
    [[ $COMP_WORDBREAKS == *:* ]] && breaks+=:
    [[ -n $breaks ]] && kept=${current%"${current##*["$breaks"]}"}
    COMPREPLY=("${COMPREPLY[@]#"$kept"}")
}

complete -F _oltr oltr
