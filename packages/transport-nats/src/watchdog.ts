/**
 * The shell program between us and a supervised server: ends the server when our end of the pipe closes.
 *
 * Arguments: program, configuration file, folder for the ports file, output file, and a folder to remove once the pipe has closed, or nothing.
 * POSIX sh, apart from fractions of a second in `sleep`, which Linux, macOS and BusyBox have.
 */
export const WATCHDOG_SCRIPT = `
program=$1 config=$2 ports=$3 output=$4 temporary=$5
exec 3<&0 </dev/null
"$program" -c "$config" --ports_file_dir "$ports" >"$output" 2>&1 3<&- &
server=$!
trap 'kill -TERM "$server" 2>/dev/null' TERM INT HUP
(
  trap - TERM INT HUP
  read -r _ <&3
  [ -z "$temporary" ] || : >"$ports/closed"
  kill -TERM "$server" 2>/dev/null
  waited=0
  while [ "$waited" -lt 50 ] && kill -0 "$server" 2>/dev/null; do
    sleep 0.1
    waited=$((waited + 1))
  done
  kill -KILL "$server" 2>/dev/null
) &
ender=$!
wait "$server"
code=$?
while kill -0 "$server" 2>/dev/null; do
  wait "$server"
  code=$?
done
kill "$ender" 2>/dev/null
[ ! -e "$ports/closed" ] || rm -rf -- "$temporary"
exit "$code"
`;
