# Runs a server and ends it when the JVM that started it is gone, however that JVM ended: the JVM
# holds the other end of standard input, so its end is the end of the input.
#
# Arguments: the server's directory, the signal for that case, the server's command.
# Input: names of signals to send to the server. Output: the server's process id.
trap '' INT HUP
dir=$1 last=$2
shift 2
"$@" </dev/null >>"$dir/server.log" 2>&1 &
server=$!
# Whoever ends a whole process group must not end the guard and leave the server. Not before the
# server is started: it would ignore the signal, too.
trap '' TERM
echo "$server"
exec 3<&0
(
  while read -r signal; do kill -"$signal" "$server"; done
  kill -"$last" "$server"
  kill -CONT "$server"
  exit 7
) <&3 >/dev/null 2>&1 &
guard=$!
exec 3<&- >/dev/null
wait "$server"
code=$?
kill -KILL "$guard" 2>/dev/null
wait "$guard"
if [ $? -eq 7 ]; then rm -rf "$dir"; fi
exit $code
