#!/usr/bin/env node
// mock-responses.mjs - a scriptable stand-in for the OpenAI Responses API, for Codex; see mock.mjs.
// Use it as a provider with wire_api = "responses" and base_url = "http://127.0.0.1:PORT/v1".
import { serve, stream, pieces, speak, own } from './mock.mjs';
const text = content => typeof content === 'string' ? content : (content || []).map(c => own(c.text)).filter(Boolean).join('\n');
// agents are those that the conversation has spawned and not waited for.
const agents = body => {
  const all = JSON.stringify(body.input || []);
  return [...new Set([...all.matchAll(/agent_id[\\]*":[\\]*"([\w-]+)/g)].map(m => m[1]))].filter(id => !new RegExp(`${id}[\\\\]*":[{]?[\\\\]*"?(completed|errored|shutdown)`).test(all));
};
serve({
  asks: url => url.split('?')[0].endsWith('/responses'),
  read(body) {
    const said = [];
    for (const i of body.input || []) {
      if (i.type === 'message' && i.role === 'user' && text(i.content)) speak(said, 'user', text(i.content));
      else if (i.type === 'message' && i.role === 'assistant') speak(said, 'assistant', text(i.content));
      else if (/_call$/.test(i.type)) speak(said, 'assistant', '', [i.name || i.type]);
      else if (/_output$/.test(i.type)) speak(said, 'tool', '');
    }
    return { said, side: !(body.tools || []).length };
  },
  translate: {
    Bash: i => ({ name: 'exec_command', input: { cmd: i.command, yield_time_ms: i.background ? 250 : 30000 } }),
    Agent: i => ({ namespace: 'multi_agent_v1', name: 'spawn_agent', input: { message: i.prompt, ...i.more } }),
    Wait: (_, body) => ({ namespace: 'multi_agent_v1', name: 'wait_agent', input: { targets: agents(body), timeout_ms: 3600000 } }),
  },
  async answer(res, msg, hold, { id }) {
    const send = stream(res), event = (type, data) => send({ type, ...data }, type);
    event('response.created', { response: { id } });
    for (let n = 0; n < msg.content.length; n++) {
      const b = msg.content[n];
      if (b.type === 'text') {
        const item = { type: 'message', id: `${id}_m${n}`, role: 'assistant', content: [] };
        event('response.output_item.added', { output_index: n, item });
        for (const delta of pieces(b.text)) { event('response.output_text.delta', { output_index: n, item_id: item.id, content_index: 0, delta }); await hold(); }
        event('response.output_item.done', { output_index: n, item: { ...item, content: [{ type: 'output_text', text: b.text }] } });
      } else if (b.type === 'thinking') {
        event('response.output_item.done', { output_index: n, item: { type: 'reasoning', id: `${id}_r${n}`, summary: [{ type: 'summary_text', text: b.thinking }], encrypted_content: 'bW9jaw==' } });
      } else {
        event('response.output_item.done', { output_index: n, item: { type: 'function_call', id: `${id}_f${n}`, call_id: `${id}_c${n}`, name: b.name, ...(b.namespace ? { namespace: b.namespace } : {}), arguments: JSON.stringify(b.input) } });
      }
    }
    const u = msg.usage, input = u.input_tokens + u.cache_read_input_tokens;
    event('response.completed', { response: { id, usage: { input_tokens: input, input_tokens_details: { cached_tokens: u.cache_read_input_tokens }, output_tokens: u.output_tokens, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: input + u.output_tokens } } });
    res.end();
  },
  fail: e => ({ error: { message: e.message || 'mock error', type: e.type || 'api_error', code: 'mock' } }),
  other: () => ({ object: 'list', data: [], models: [] }),
});
