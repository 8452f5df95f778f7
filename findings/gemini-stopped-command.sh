#!/bin/bash
# Gemini CLI 0.61.0: of a command that was running when the client was stopped, a
# resumed session knows nothing, whatever it has done; and the client that was
# stopped says success.
#
# Without a terminal, SIGINT ends the client in the middle of a command, with
# status 0, as if the turn were done. The session's file gets a call of a tool when
# there is a result. So the call is not in it, and who resumes the session has a
# model that is sent the prompt before and the next one, and no word of what it
# did. What the command had changed by then is in the directory.
#
# Seen: @google/gemini-cli 0.61.0, linux/amd64, 2026-11-30.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${API_PID-}" 2>/dev/null || true; rm -rf "$work"' EXIT
fail() {
	echo "changed: $*" >&2
	exit 1
}

cd "$work"
export HOME=$work TMPDIR=$work npm_config_cache=$work/npm
npm install --prefix client --no-audit --no-fund --no-update-notifier --loglevel=error @google/gemini-cli@0.61.0 >/dev/null

# The model: it calls a command that makes a file and stays, and is done with the
# next prompt. Of each request it keeps who said what.
mkfifo gate
cat >api.mjs <<'END'
import fs from 'node:fs';
import http from 'node:http';
const call = command => ({ functionCall: { name: 'run_shell_command', args: { command, description: 'run' } } });
const steps = [call('echo half >half.txt && cat ../gate')];
const api = http.createServer(async (request, response) => {
	let body = '';
	for await (const part of request) body += part;
	const { contents = [] } = JSON.parse(body || '{}');
	const said = contents.flatMap(c => c.parts).filter(p => !p.text?.startsWith('<session_context>'))
		.map(p => p.text ?? (p.functionCall ? `call ${p.functionCall.args.command}` : `result ${/Output: (.*)/.exec(p.functionResponse.response.output)[1]}`));
	fs.appendFileSync('requests', said.join(' | ') + '\n');
	const part = steps.shift() ?? { text: 'Done.' };
	const answer = { candidates: [{ content: { role: 'model', parts: [part] }, index: 0, finishReason: 'STOP' }],
		usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 } };
	response.setHeader('content-type', 'text/event-stream');
	response.end('data: ' + JSON.stringify(answer) + '\n\n');
});
api.listen(0, '127.0.0.1', () => console.log(api.address().port));
END
coproc API { exec node api.mjs; }
read -r port <&"${API[0]}"
export GEMINI_API_KEY=none GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:$port GEMINI_CLI_NO_RELAUNCH=true GEMINI_CLI_TRUST_WORKSPACE=true
mkdir .gemini project
echo '{"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false}}' >.gemini/settings.json
session=01234567-89ab-4cde-8f01-23456789abcd
gemini() { node "$work/client/node_modules/@google/gemini-cli/bundle/gemini.js" --yolo -m gemini-2.5-pro "$@" >"$work/output" 2>&1; }

cd project
set -m # else the shell has what is in the background ignore SIGINT
gemini --session-id $session -p Begin &
exec 3>"$work/gate" # when the command reads it
kill -INT -$!
set +m
wait $! || fail "the client that was stopped ends with status $?"
exec 3>&-
[[ -e half.txt ]] || fail 'the command has changed nothing'
gemini --resume $session -p 'Go on' || fail "the client fails: $(<"$work/output")"
cd ..

cat >expected <<'END'
Begin
Begin | Go on
END
diff expected requests || fail 'the model is sent something else'
! grep -rqF 'cat ../gate' .gemini || fail 'a file of the client has the command'
echo 'as described: the client ends with status 0, and the model that goes on is not told of the command that has made a file'
