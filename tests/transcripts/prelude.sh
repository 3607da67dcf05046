# The commands of transcripts that are not programs. $ROOT is the project, $BASE its parent, $BIN the first folder on
# PATH, $REPO the sources of taskie, $TASKIE the program.
ROOT=$PWD BASE=${PWD%/*} BIN=${PWD%/*}/bin
BEFORE=$BASE/.transcript/before
export LC_ALL=C
CHART=
SESSION=

TASKIE=$(command -v taskie)

# The program. An exit code other than 0 is printed, because only the last one of a line is shown.
taskie() {
    "$TASKIE" "$@" || echo "[$?]" >&2
}

# write FILE TEXT: writes the text with `\n` for line ends.
write() {
    case $1 in */*) mkdir -p "${1%/*}" ;; esac
    printf '%b' "$2" >"$1"
}

# hook EVENT [FIELDS]: the event as the host sends it, with these fields of JSON.
hook() {
    printf '{"cwd": "%s"%s%s}' "$ROOT" "${SESSION:+, \"session_id\": \"$SESSION\"}" "${2:+, $2}" |
        taskie ${CHART:+--chart "$CHART"} hook "$1"
}

stop() { hook stop "$@"; }

# changed: what is different in the project since the last time, or since the start: only in the first, `-`, or in the
# second, `+`.
changed() {
    mkdir -p "$BEFORE"
    diff -rNU0 --no-dereference -x .git -x .locks "$BEFORE" "$ROOT" |
        sed -e "/^diff /d; /^--- /d; /^@@/d; s|^+++ $ROOT/\([^	]*\).*|\1|"
    same
}

# same: what there is now is what the next `changed` compares with.
same() {
    rm -rf "$BEFORE"
    cp -R "$ROOT" "$BEFORE"
}

# repository: makes the project a git repository.
repository() {
    export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
    export GIT_AUTHOR_NAME=Test GIT_AUTHOR_EMAIL=test@example.invalid
    export GIT_COMMITTER_NAME=Test GIT_COMMITTER_EMAIL=test@example.invalid
    git init -q "$@"
}

# plan: a valid plan of two pending tasks, in $PLAN.
PLAN=.taskie/plans/test-plan
plan() {
    write $PLAN/plan.md '# Plan\n\n## Overview\n\nDo it.\n'
    table '1 | pending' '2 | pending'
    write $PLAN/task-1.md '# Task 1\n'
    write $PLAN/task-2.md '# Task 2\n'
}

# table ROW...: the plan's tasks.md with these ids and statuses.
table() {
    printf '| Id | Status |\n|---|---|\n' >$PLAN/tasks.md
    printf '| %b |\n' "$@" >>$PLAN/tasks.md
}

# state FIELD=JSON...: a plan in which the code review of task 1 is due, with these fields instead, as taskie would have left it.
state() (
    for journal in .git/taskie/????????????????/test-plan.jsonl .taskie/.locks/test-plan.jsonl; do
        [ ! -f "$journal" ] || for line in '"decision","event":"","wrote":{}' '"landed"'; do
            printf '\n{"at":"%s","instance":"test-plan","line":%s}' "$(date -u +%FT%T.%3NZ)" "$line" >>"$journal"
        done
    done
    [ -e $PLAN/plan.md ] || plan
    max_reviews=8 current_task='"1"' phase='"complete-task"' phase_iteration=0 next_phase='"code-review"'
    review_model='"opus"' consecutive_clean=0 tdd=false more=
    for field; do
        case ${field%%=*} in
            paused | ballast) more="$more,
  \"${field%%=*}\": ${field#*=}" ;;
            *) eval "${field%%=*}=\${field#*=}" ;;
        esac
    done
    printf '{\n  "max_reviews": %s,\n  "current_task": %s,\n  "phase": %s,\n  "phase_iteration": %s,\n' \
        "$max_reviews" "$current_task" "$phase" "$phase_iteration" >$PLAN/state.json
    printf '  "next_phase": %s,\n  "review_model": %s,\n  "consecutive_clean": %s,\n  "tdd": %s%s\n}\n' \
        "$next_phase" "$review_model" "$consecutive_clean" "$tdd" "$more" >>$PLAN/state.json
)

# reviewer VERDICT [FINDINGS]: puts a scripted `claude` on PATH. It runs $FIRST before it writes its review.
reviewer() {
    ln -sf "$REPO/tests/black_box/claude.sh" "$BIN/claude"
    cat >"$BIN/behaviour" <<END
$FIRST
echo '# Review' >"\$file"
cat <<'TASKIE_END'
{"is_error": false, "total_cost_usd": 0.84, "structured_output": {"verdict": "$1"${2:+, \"findings\": $2}}}
TASKIE_END
END
}

# reviews: how many times the reviewer has been called.
reviews() { cat "$BIN"/call[s] 2>/dev/null | tr -cd "\036" | wc -c; }

# prompt: what the reviewer was asked last.
prompt() {
    tr '\000' '\001' <"$BIN/calls" |
        awk 'BEGIN { RS = "\036" } { last = $0 } END { n = split(last, words, "\001"); print words[n - 1] }'
}

# user_settings JSON: the user's own settings, which need no trust.
user_settings() { write "$HOME/.config/taskie/taskie.json" "$1"; }

# message: of an answer, only what the user reads.
message() { sed -n 's/.*"systemMessage": "\(.*\)"\(, "suppressOutput": true\)\{0,1\}}$/\1/p'; }

# arguments: what the reviewer was called with last, without its prompt.
arguments() {
    tr '\000' '\001' <"$BIN/calls" |
        awk 'BEGIN { RS = "\036" } { last = $0 } END { sub("\001[^\001]*\001$", "", last); gsub("\001", " ", last); print last }'
}

# history LINE...: what the machine has recorded about the plan.
history() {
    mkdir -p .taskie/.locks
    : >.taskie/.locks/${PLAN##*/}.jsonl
    printf '{"inode":%s}\n' "$(stat -c %i .taskie/.locks/*.jsonl)" >.taskie/.locks/${PLAN##*/}.jsonl
    printf '%s\n' "$@" >>.taskie/.locks/${PLAN##*/}.jsonl
}
