#!/usr/bin/env node
// mock-chat.mjs - a scriptable stand-in for the OpenAI Chat Completions API, for OpenCode, pi, Copilot, Qwen Code and droid; see mock.mjs.
// Use it as a provider of @ai-sdk/openai-compatible with baseURL = "http://127.0.0.1:PORT/v1".
import { serve, stream, pieces, speak, own } from './mock.mjs';
const has = (body, name) => (body.tools || []).some(t => t.function?.name === name);
// What a plugin adds to a prompt is a part before it.
const text = content => typeof content === 'string' ? own(content) : (content || []).map(c => own(c.text)).filter(Boolean).at(-1) || '';
serve({
  asks: url => url.endsWith('/chat/completions'),
  read(body) {
    const said = [];
    for (const m of body.messages || []) {
      if (m.role === 'user') speak(said, 'user', text(m.content));
      else if (m.role === 'assistant') speak(said, 'assistant', text(m.content), (m.tool_calls || []).map(c => c.function.name));
      else if (m.role === 'tool') speak(said, 'tool', '');
    }
    return { said, side: !(body.tools || []).length };
  },
  translate: { // the time-out is in milliseconds for OpenCode, for pi in seconds, of which it takes no more
    Bash: (i, body) => has(body, 'run_shell_command')
      ? { name: 'run_shell_command', input: { command: i.command, description: i.description || 'run', timeout: 600000, ...i.background && { is_background: true } } }
      : has(body, 'Execute') ? { name: 'Execute', input: { command: i.command, summary: i.description || 'run', timeout: 3600, riskLevel: 'low', riskLevelReason: 'a test', ...i.background && { fireAndForget: true } } }
      : i.background && has(body, 'background_process') ? { name: 'background_process', input: { action: 'start', command: i.command, description: i.description || 'run' } }
      : { name: 'bash', input: { command: i.background && !has(body, 'read_bash') ? i.command + ' >back.log 2>&1 &' : i.command, description: i.description || 'run', timeout: 2000000, ...i.background ? { mode: 'async' } : { initial_wait: 600 } } },
    Agent: (i, body) => has(body, 'agent')
      ? { name: 'agent', input: { description: i.description, prompt: i.prompt, subagent_type: 'general-purpose', run_in_background: !!i.background } }
      : { name: 'task', input: { description: i.description, prompt: i.prompt, subagent_type: 'general', agent_type: 'general-purpose', name: 'other', mode: 'sync' } },
  },
  async answer(res, msg, hold, { id, body }) {
    const send = stream(res), chunk = (delta, finish_reason = null, more = {}) => send({ id, object: 'chat.completion.chunk', created: 1, model: body.model, choices: [{ index: 0, delta, finish_reason }], ...more });
    let calls = 0;
    for (const b of msg.content) {
      if (b.type === 'text') for (const content of pieces(b.text)) { chunk({ role: 'assistant', content }); await hold(); }
      else if (b.type === 'thinking') chunk({ role: 'assistant', reasoning_content: b.thinking });
      else chunk({ role: 'assistant', tool_calls: [{ index: calls, id: `${id}_c${calls++}`, type: 'function', function: { name: b.name, arguments: JSON.stringify(b.input) } }] });
    }
    const u = msg.usage, input = u.input_tokens + u.cache_read_input_tokens;
    chunk({}, calls ? 'tool_calls' : 'stop', { usage: { prompt_tokens: input, completion_tokens: u.output_tokens, total_tokens: input + u.output_tokens, prompt_tokens_details: { cached_tokens: u.cache_read_input_tokens } } });
    send('[DONE]'); res.end();
  },
  fail: e => ({ error: { message: e.message || 'mock error', type: e.type || 'api_error' } }),
  other: () => ({ object: 'list', data: [] }),
});
