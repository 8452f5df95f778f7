#!/usr/bin/env node
// mock-gemini.mjs - a scriptable stand-in for the Gemini API, for Gemini CLI; see mock.mjs.
// Use it as GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:PORT.
import { serve, stream, pieces, speak, own } from './mock.mjs';
serve({
  asks: url => /:(stream)?[gG]enerateContent\b/.test(url),
  read(body) {
    const said = [];
    for (const c of body.contents || []) {
      const text = (c.parts || []).map(p => p.thought ? '' : own(p.text)).filter(Boolean).join('\n');
      if (c.role === 'model') speak(said, 'assistant', text, (c.parts || []).flatMap(p => p.functionCall ? [p.functionCall.name] : []));
      else if ((c.parts || []).some(p => p.functionResponse)) speak(said, 'tool', '');
      else if (text) speak(said, 'user', text);
    }
    return { said, side: !(body.tools || []).length };
  },
  translate: {
    Bash: i => ({ name: 'run_shell_command', input: { command: i.command, description: i.description || 'run', ...i.background && { is_background: true } } }),
    Agent: i => ({ name: 'codebase_investigator', input: { objective: i.prompt } }),
  },
  async answer(res, msg, hold, { url, body }) {
    const u = msg.usage, input = u.input_tokens + u.cache_read_input_tokens;
    const parts = msg.content.map(b => b.type === 'text' ? { text: b.text } : b.type === 'thinking' ? { text: b.thinking, thought: true } : { functionCall: { name: b.name, args: b.input } });
    const part = (parts, last) => ({ candidates: [{ content: { role: 'model', parts }, index: 0, ...(last ? { finishReason: 'STOP' } : {}) }], modelVersion: 'mock',
      usageMetadata: { promptTokenCount: input, cachedContentTokenCount: u.cache_read_input_tokens, candidatesTokenCount: u.output_tokens, totalTokenCount: input + u.output_tokens } });
    if (!/stream/.test(url)) { res.writeHead(200, { 'content-type': 'application/json' }); return res.end(JSON.stringify(part(parts, true))); }
    const send = stream(res);
    for (const p of parts) {
      if (p.text === undefined || p.thought) { send(part([p])); continue; }
      for (const text of pieces(p.text)) { send(part([{ text }])); await hold(); }
    }
    send(part([{ text: '' }], true)); res.end();
  },
  fail: e => ({ error: { code: e.status || 500, message: e.message || 'mock error', status: 'INVALID_ARGUMENT' } }),
  other: () => ({ totalTokens: 100 }),
});
