#!/bin/bash
# Gemini CLI 0.61.0: a session that is resumed sends the result of each tool twice.
#
# The client notes a result in the session's file twice: with the call, as part of
# the model's message, and as a message of its own, as it was sent. While the
# session runs the model gets it once. When it is resumed, the history is made of
# the file, from both notes: the model is sent two equal results for one call,
# in one message, and pays for both in all requests from then on.
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

# The model: it calls two commands, and is done. Of each request it keeps who said
# what.
cat >api.mjs <<'END'
import fs from 'node:fs';
import http from 'node:http';
const call = command => ({ functionCall: { name: 'run_shell_command', args: { command, description: 'run' } } });
const steps = [call('echo one'), call('echo two')];
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
gemini() { (cd project && node "$work/client/node_modules/@google/gemini-cli/bundle/gemini.js" --yolo -m gemini-2.5-pro "$@" >"$work/output" 2>&1) || fail "the client fails: $(<output)"; }
gemini --session-id $session -p Begin
gemini --resume $session -p 'Go on'

cat >expected <<'END'
Begin
Begin | call echo one | result one
Begin | call echo one | result one | call echo two | result two
Begin | call echo one | result one | result one | call echo two | result two | result two | Done. | Go on
END
diff expected requests || fail 'the model is sent something else'
echo 'as described: two calls have two results while the session runs, and four when it is resumed'
