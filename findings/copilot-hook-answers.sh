#!/bin/bash
# GitHub Copilot CLI 1.0.102: of a hook's answer in Claude Code's form, the
# decision is obeyed and what it says to the model is dropped.
#
# The client runs the hooks of a project's .claude/settings.json, under Claude
# Code's names of events. Claude Code takes both permissionDecision and
# additionalContext inside of hookSpecificOutput. Copilot takes the decision of
# PreToolUse there: the command is denied, and the model learns the reason. It
# takes no additionalContext there, of SessionStart, UserPromptSubmit or
# PostToolUse: nothing reaches the model, and nobody is told. At the top of the
# answer additionalContext is taken for all three. So a project's guard works
# in both clients, and its instructions in one.
#
# Seen: @github/copilot 1.0.102, linux/amd64, 2026-11-29.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${API_PID-}" 2>/dev/null || true; rm -rf "$work"' EXIT
fail() {
	echo "changed: $*" >&2
	exit 1
}

cd "$work"
export HOME=$work TMPDIR=$work npm_config_cache=$work/npm
npm install --prefix client --no-audit --no-fund --no-update-notifier --loglevel=error @github/copilot@1.0.102 >/dev/null

# The model: it calls a command, and is done when it has the result.
cat >api.mjs <<'END'
import fs from 'node:fs';
import http from 'node:http';
const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'bash', arguments: '{"command":"touch called","description":"touch"}' } };
const api = http.createServer(async (request, response) => {
	let body = '';
	for await (const part of request) body += part;
	fs.appendFileSync('requests', body + '\n');
	const called = JSON.parse(body).messages.at(-1).role === 'tool';
	const event = (delta, finish_reason) => 'data: ' + JSON.stringify({
		id: 'c', object: 'chat.completion.chunk', created: 1, model: 'mock', choices: [{ index: 0, delta, finish_reason }],
	}) + '\n\n';
	response.setHeader('content-type', 'text/event-stream');
	response.write(event({ role: 'assistant', ...called ? { content: 'Done.' } : { tool_calls: [call] } }, null));
	response.end(event({}, called ? 'stop' : 'tool_calls') + 'data: [DONE]\n\n');
});
api.listen(0, '127.0.0.1', () => console.log(api.address().port));
END
coproc API { exec node api.mjs; }
read -r port <&"${API[0]}"
export COPILOT_OFFLINE=true COPILOT_MODEL=mock COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:$port/v1 COPILOT_PROVIDER_API_KEY=none
export COPILOT_ALLOW_ALL=true COPILOT_PKG_CACHE_HOME=$work/pkg # all is allowed, and the directory trusted

# said has the client run one turn in a project whose hook for the event gives
# the answer. It prints how many requests have the word, and whether the
# command was run.
said() {
	rm -rf project requests
	git init -q project
	mkdir project/.claude
	printf '%s' "$2" >answer.json
	printf '{"hooks":{"%s":[{"hooks":[{"type":"command","command":"cat %s"}]}]}}' "$1" "$work/answer.json" >project/.claude/settings.json
	(cd project && "$work/client/node_modules/.bin/copilot" -p hello) >output 2>&1 || fail "the client fails: $(<output)"
	echo "$(grep -c WORD requests) $([[ -e project/called ]] && echo run || echo denied)"
}

is=$(said PreToolUse '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"WORD"}}')
[[ $is == '1 denied' ]] || fail "the decision inside: $is"
for event in SessionStart UserPromptSubmit PostToolUse; do
	is=$(said $event '{"hookSpecificOutput":{"hookEventName":"'$event'","additionalContext":"WORD"}}')
	[[ $is == '0 run' ]] || fail "the context of $event inside: $is"
	is=$(said $event '{"additionalContext":"WORD"}')
	[[ $is == [12]' run' ]] || fail "the context of $event at the top: $is"
done
echo 'as described: inside of hookSpecificOutput the decision is obeyed, and the context never reaches the model'
