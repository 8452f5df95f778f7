#!/bin/bash
# Factory droid 0.225.2: SIGINT in the middle of a command does not stop
# droid exec. It stops the command, and the agent goes on.
#
# While a command runs, SIGINT ends that alone: the model is sent its result, an
# error, as if the command had ended by itself, and calls what it wants next. The
# run ends when the agent is done, with status 0. So who stops a run by that
# signal, as `timeout -s INT` does, or Ctrl-C in a script, may have taken away one
# of its steps and nothing else.
#
# Seen: @factory/cli-linux-x64 0.225.2, linux/amd64, 2026-11-30.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${API_PID-}" 2>/dev/null || true; rm -rf "$work"' EXIT
fail() {
	echo "changed: $*" >&2
	exit 1
}

cd "$work"
export HOME=$work TMPDIR=$work npm_config_cache=$work/npm
npm install --prefix client --no-audit --no-fund --no-update-notifier --loglevel=error @factory/cli-linux-x64@0.225.2 >/dev/null

# The model: it calls a command that stays, then one that makes a file, and is
# done. Of each request it keeps the last result.
mkfifo gate
cat >api.mjs <<'END'
import fs from 'node:fs';
import http from 'node:http';
const call = command => ({ tool_calls: [{ index: 0, id: 'call_' + Math.random(), type: 'function', function: {
	name: 'Execute', arguments: JSON.stringify({ command, summary: 'run', timeout: 3600, riskLevel: 'low', riskLevelReason: 'a test' }),
} }] });
const steps = [call('cat ../gate'), call('echo more >more.txt'), { content: 'Done.' }];
const api = http.createServer(async (request, response) => {
	let body = '';
	for await (const part of request) body += part;
	const { messages = [], tools } = JSON.parse(body || '{}');
	const results = messages.filter(m => m.role === 'tool');
	if (tools) fs.appendFileSync('requests', `${results.length} ${JSON.stringify(results.at(-1)?.content ?? '')}\n`);
	const event = (delta, finish_reason) => 'data: ' + JSON.stringify({
		id: 'c', object: 'chat.completion.chunk', created: 1, model: 'mock', choices: [{ index: 0, delta, finish_reason }],
	}) + '\n\n';
	response.setHeader('content-type', 'text/event-stream');
	const delta = tools ? steps[results.length] : steps[2];
	response.end(event({ role: 'assistant', ...delta }, null) + event({}, delta.content ? 'stop' : 'tool_calls') + 'data: [DONE]\n\n');
});
api.listen(0, '127.0.0.1', () => console.log(api.address().port));
END
coproc API { exec node api.mjs; }
read -r port <&"${API[0]}"
mkdir .factory project
cat >.factory/settings.json <<END
{
	"customModels": [{"model": "mock", "displayName": "Mock", "baseUrl": "http://127.0.0.1:$port/v1", "apiKey": "none",
		"provider": "generic-chat-completion-api", "maxContextLimit": 200000}],
	"cloudSessionSync": false
}
END

set -m # else the shell has what is in the background ignore SIGINT
(cd project && exec "$work"/client/node_modules/@factory/cli-linux-x64/bin/droid exec --skip-permissions-unsafe -m custom:Mock-0 Begin) >output 2>&1 &
exec 3>gate # when the command reads it
kill -INT -$! # as a terminal does
set +m
wait $! || fail "the run ends with status $?: $(<output)"
exec 3>&-

cat >expected <<'END'
0 ""
1 "Error: Command terminated by signal: SIGTERM"
2 "Command completed successfully\n\n[Process exited with code 0]"
END
diff expected requests || fail 'the model is sent something else'
[[ -e project/more.txt ]] || fail 'the agent did not go on'
echo 'as described: the command is stopped, the agent goes on with the next one, and the run ends with status 0'
