#!/bin/sh
# Runs at the start of a session. If the `taskie` program is there and new enough, it answers the event. Otherwise
# one line tells the user how to install it. PATH may lack everything but sh and sed.
needed=0.1.0

# In a reviewer's session, neither is of use.
[ -z "${TASKIE_REVIEWER+set}" ] || exit 0

# is_older A B: A is an earlier version than B; both are numbers with dots between them.
is_older() {
  a=$1. b=$2.
  while [ -n "$a$b" ]; do
    # The 0 at the end turns a missing part into a number.
    x=${a%%.*}0 y=${b%%.*}0
    [ "$x" -eq "$y" ] || { [ "$x" -lt "$y" ]; return; }
    a=${a#*.} b=${b#*.}
  done
  return 1
}

if ! command -v taskie >/dev/null 2>&1; then
  trouble='the taskie program is not on PATH, so nothing is reviewed and no state is stored'
else
  found=$(taskie --version 2>/dev/null)
  version=${found#taskie }
  version=${version%%[-+ ]*}
  case $version in
    '' | *[!0-9.]* | .* | *. | *..*) trouble="the \`taskie\` on PATH is a different program (\`taskie --version\` does not print its version)" ;;
    *)
      is_older "$version" "$needed" || exec taskie hook session-start
      trouble="the taskie program on PATH is version $version, this plugin needs $needed or later"
      ;;
  esac
fi

# The repository that this plugin came from: around it, or where the host keeps the marketplace.
plugin=$(cd "${0%/*}/.." && pwd)
install='`cargo install --locked --profile dist --path .` in a clone of the repository that this plugin came from'
for clone in "$plugin/../.." "$plugin/../../../../marketplaces/taskie"; do
  if [ -f "$clone/Cargo.toml" ] && [ -f "$clone/statechart.toml" ]; then
    clone=$(cd "$clone" && pwd | sed "s/'/'\\\\''/g")
    install="\`cargo install --locked --profile dist --path '$clone'\`"
    break
  fi
done
message=$(printf '%s' "Taskie: $trouble. Install it with $install." | sed 's/[\\"]/\\&/g')
printf '{"systemMessage": "%s"}\n' "$message"
