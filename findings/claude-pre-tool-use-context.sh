#!/bin/bash
# Claude Code 2.1.332: what a PreToolUse hook tells the model, the model reads
# when the tool has run.
#
# A PreToolUse hook may answer with additionalContext inside of
# hookSpecificOutput. The hook runs before the tool, and the client waits for it,
# but the model is not asked again: it gets the context in the request that has
# the result of the call, behind it. So a hook that would warn of an edit, or say
# what to mind in it, comes when the edit is made. In time is only a decision:
# of a call that the hook denies the model gets the reason as the result, and can
# call again.
#
# Seen: @anthropic-ai/claude-code 2.1.332, linux/amd64, 2026-11-30.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${API_PID-}" 2>/dev/null || true; rm -rf "$work"' EXIT
fail() {
	echo "changed: $*" >&2
	exit 1
}

cd "$work"
export HOME=$work TMPDIR=$work npm_config_cache=$work/npm
npm install --prefix client --no-audit --no-fund --no-update-notifier --loglevel=error @anthropic-ai/claude-code@2.1.332 >/dev/null

# The model: it writes a file, and is done when it has the result. Of each request
# it keeps where the word is, and whether the file is there by then.
cat >api.mjs <<'END'
import fs from 'node:fs';
import http from 'node:http';
const api = http.createServer(async (request, response) => {
	let body = '';
	for await (const part of request) body += part;
	const parts = (JSON.parse(body || '{}').messages ?? []).flatMap(m => m.content);
	const at = parts.findIndex(part => part.type === 'tool_result'), answered = at >= 0;
	const word = parts.findIndex(part => JSON.stringify(part).includes('WORD'));
	const where = word < 0 ? 'nothing' : word < at ? 'before the result' : word > at ? 'behind the result' : 'the result';
	fs.appendFileSync('requests', `${where}, ${fs.existsSync('project/note.txt') ? 'written' : 'not written'}\n`);
	const block = answered
		? [{ type: 'text', text: '' }, { type: 'text_delta', text: 'Done.' }]
		: [{ type: 'tool_use', id: 'toolu_1', name: 'Write', input: {} },
			{ type: 'input_json_delta', partial_json: JSON.stringify({ file_path: process.cwd() + '/project/note.txt', content: 'note\n' }) }];
	response.setHeader('content-type', 'text/event-stream');
	for (const [type, data] of [
		['message_start', { message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'mock', content: [], usage: { input_tokens: 1, output_tokens: 1 } } }],
		['content_block_start', { index: 0, content_block: block[0] }],
		['content_block_delta', { index: 0, delta: block[1] }],
		['content_block_stop', { index: 0 }],
		['message_delta', { delta: { stop_reason: answered ? 'end_turn' : 'tool_use' }, usage: { output_tokens: 1 } }],
		['message_stop', {}],
	]) {
		response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
	}
	response.end();
});
api.listen(0, '127.0.0.1', () => console.log(api.address().port));
END
coproc API { exec node api.mjs; }
read -r port <&"${API[0]}"
export ANTHROPIC_BASE_URL=http://127.0.0.1:$port ANTHROPIC_API_KEY=none IS_SANDBOX=1
export CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 DISABLE_TELEMETRY=1

# told has the client run one turn with a hook that gives the answer before the
# file is written, and prints what the model got.
told() {
	rm -rf project requests
	mkdir -p project/.claude
	printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse",%s}}' "$1" >answer.json
	printf '{"hooks":{"PreToolUse":[{"matcher":"Write","hooks":[{"type":"command","command":"cat %s"}]}]}}' "$work/answer.json" >project/.claude/settings.json
	(cd project && "$work/client/node_modules/.bin/claude" -p hello --dangerously-skip-permissions </dev/null) >output 2>&1 || fail "the client fails: $(<output)"
	cat requests
}

is=$(told '"additionalContext":"WORD"')
[[ $is == $'nothing, not written\nbehind the result, written' ]] || fail "of the context the model gets: $is"
is=$(told '"permissionDecision":"deny","permissionDecisionReason":"WORD"')
[[ $is == $'nothing, not written\nthe result, not written' ]] || fail "of the reason the model gets: $is"
echo 'as described: the context comes behind the result, when the file is written; the reason of a denial is the result'
