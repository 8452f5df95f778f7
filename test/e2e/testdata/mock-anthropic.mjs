#!/usr/bin/env node
// mock-anthropic.mjs - a scriptable stand-in for the Anthropic Messages API (loopback only, no dependencies, Node >= 18).
//
//   node mock-anthropic.mjs --scenario s.json --log DIR [--port 0] [--portfile F]
//
// Prints "listening 127.0.0.1:PORT" (and writes PORT to --portfile).  Use ANTHROPIC_BASE_URL=http://127.0.0.1:PORT.
// Scenario file (re-read on every request, so it can be edited while running):
//   { "rules": [ { "match": "T1",            // regex on the last REAL user text (system-reminders stripped, but for a Stop hook's)
//                  "system": "regex",        // optional: regex on the system prompt
//                  "model": "regex",         // optional: regex on body.model
//                  "notools": true,          // optional: only requests without tools (side queries: titles, summaries..)
//                  "steps": [ REPLY, .. ] }, // step i answers the request that has i assistant messages after that text
//                .. ],                       // (stateless: works across resume/fork/restart); the last step repeats
//     "sequence": [ REPLY, .. ],             // otherwise: used up in order of arrival (of requests no rule matched)
//     "fallback": REPLY,                     // otherwise; default text "mock: ok"
//     "usage": { .. } }                      // default usage numbers
//   REPLY = { "text": "..", "thinking": "..", "tool": "Write", "input": {..},         // shorthand, or:
//             "content": [ {"type":"text","text":".."}, {"type":"tool_use","name":"Bash","input":{..}} ],
//             "usage": {"input_tokens":1,"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":4},
//             "stop_reason": "..", "delay_ms": 0, "chunk_ms": 0,                      // wait before / between deltas
//             "hold": "/path",                       // wait after the first text delta until that file exists
//             "break_after": 1, "break_times": 1,    // cut the stream after that many content blocks, for the first break_times requests
//             "error": {"status": 400, "type": "invalid_request_error", "message": ".."} , "hangup": true }
//   In string values of "input", ${CWD} is replaced by the "Primary working directory" that the request states, if any.
// Log: DIR/NNNN.json = {n, ts, method, path, headers (no credentials), body, rule, step, reply, status, closed_early}
//      DIR/index.txt = one line per request: number, model, streaming, rule, digest of the conversation that was sent.
import http from 'node:http'; import fs from 'node:fs'; import path from 'node:path'; import crypto from 'node:crypto';
const arg = (k, d) => { const i = process.argv.indexOf('--' + k); return i < 0 ? d : process.argv[i + 1]; };
const scenarioFile = arg('scenario'), logDir = arg('log', './mocklog'), port = +arg('port', 0), portfile = arg('portfile');
fs.mkdirSync(logDir, { recursive: true });
const breaks = {};
let n = fs.readdirSync(logDir).filter(f => /^\d+\.json$/.test(f)).length, seq = 0;
const sleep = ms => new Promise(r => setTimeout(r, ms)), id = p => p + crypto.randomBytes(9).toString('hex');
const scenario = () => { try { return scenarioFile ? JSON.parse(fs.readFileSync(scenarioFile, 'utf8')) : {}; } catch (e) { console.error('scenario: ' + e.message); return {}; } };
const blocks = m => typeof m.content === 'string' ? [{ type: 'text', text: m.content }] : (m.content || []);
// What a Stop hook says is an answer to the agent, in a reminder (since 2.1.332) or not.
const strip = s => (s || '').replace(/<system-reminder>[\s\S]*?<\/system-reminder>/g, r => /^Stop hook feedback:/m.test(r) ? r : '').trim();
const systemText = b => typeof b.system === 'string' ? b.system : (b.system || []).map(x => x.text || '').join('\n');
export function lastUser(body) {            // -> {text, after: assistant messages after it}
  const ms = body.messages || []; let after = 0;
  for (let i = ms.length - 1; i >= 0; i--) {
    if (ms[i].role === 'assistant') { after++; continue; }
    if (ms[i].role !== 'user') continue;
    const bs = blocks(ms[i]), t = bs.filter(b => b.type === 'text').map(b => strip(b.text)).filter(Boolean).join('\n');
    if (t) return { text: t, after };      // (reminders are stripped; a prompt after an interrupt may share the message with a tool_result)
  }
  return { text: '', after };
}
function digest(body) {
  return (body.messages || []).map(m => m.role[0].toUpperCase() + '[' + blocks(m).map(b =>
    b.type === 'text' ? (strip(b.text) ? JSON.stringify(strip(b.text).slice(0, 60)) : '<reminder>') :
    b.type === 'tool_use' ? 'use:' + b.name : b.type === 'tool_result' ? 'result' + (b.is_error ? '!' : '') : b.type).join(',') + ']').join(' ');
}
function pick(body) {
  const s = scenario(), u = lastUser(body), sys = systemText(body);
  for (const r of s.rules || []) {
    if (r.match && !new RegExp(r.match, 's').test(u.text)) continue;
    if (r.system && !new RegExp(r.system, 's').test(sys)) continue;
    if (r.model && !new RegExp(r.model).test(body.model || '')) continue;
    if (r.notools && (body.tools || []).length) continue;
    const i = Math.min(u.after, r.steps.length - 1);
    return { rule: r.match || r.system || r.model || 'notools', step: i, reply: r.steps[i], usage: s.usage };
  }
  if (seq < (s.sequence || []).length) return { rule: 'sequence', step: seq, reply: s.sequence[seq++], usage: s.usage };
  return { rule: 'fallback', step: 0, reply: s.fallback || { text: 'mock: ok' }, usage: s.usage };
}
function message(body, p) {
  const r = p.reply, cwd = (JSON.stringify(body).match(/[Ww]orking directory: ([^\\"\n]+)/) || [])[1] || '';
  const sub = v => typeof v === 'string' ? v.replaceAll('${CWD}', cwd) : Array.isArray(v) ? v.map(sub) : v && typeof v === 'object' ? Object.fromEntries(Object.entries(v).map(([k, x]) => [k, sub(x)])) : v;
  const content = (r.content || [...(r.thinking ? [{ type: 'thinking', thinking: r.thinking }] : []), ...(r.text !== undefined ? [{ type: 'text', text: r.text }] : []), ...(r.tool ? [{ type: 'tool_use', name: r.tool, input: r.input || {} }] : [])])
    .map(b => b.type === 'tool_use' ? { type: 'tool_use', id: b.id || id('toolu_'), name: b.name, input: sub(b.input || {}) } : b.type === 'thinking' ? { type: 'thinking', thinking: b.thinking, signature: b.signature || Buffer.from('mock').toString('base64') } : { ...b });
  return { id: id('msg_'), type: 'message', role: 'assistant', model: body.model, content,
    stop_reason: r.stop_reason || (content.some(b => b.type === 'tool_use') ? 'tool_use' : 'end_turn'), stop_sequence: null,
    usage: { input_tokens: 10, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 20, service_tier: 'standard', ...p.usage, ...r.usage } };
}
async function stream(res, msg, r) {
  const send = (ev, d) => { if (!res.destroyed) res.write(`event: ${ev}\ndata: ${JSON.stringify({ type: ev, ...d })}\n\n`); };
  res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'request-id': id('req_') });
  send('message_start', { message: { ...msg, content: [], stop_reason: null, usage: { ...msg.usage, output_tokens: 1 } } });
  for (let i = 0; i < msg.content.length; i++) {
    if (r.breaking && i === r.break_after) { await sleep(r.break_ms ?? 300); return res.destroy(); }
    const b = msg.content[i];
    if (b.type === 'text') {
      send('content_block_start', { index: i, content_block: { type: 'text', text: '' } });
      for (const c of b.text.match(/[\s\S]{1,40}/g) || []) { send('content_block_delta', { index: i, delta: { type: 'text_delta', text: c } }); if (r.chunk_ms) await sleep(r.chunk_ms); while (r.hold && !fs.existsSync(r.hold) && !res.destroyed) await sleep(20); }
    } else if (b.type === 'thinking') {
      send('content_block_start', { index: i, content_block: { type: 'thinking', thinking: '', signature: '' } });
      send('content_block_delta', { index: i, delta: { type: 'thinking_delta', thinking: b.thinking } });
      send('content_block_delta', { index: i, delta: { type: 'signature_delta', signature: b.signature } });
    } else if (b.type === 'tool_use') {
      send('content_block_start', { index: i, content_block: { ...b, input: {} } });
      send('content_block_delta', { index: i, delta: { type: 'input_json_delta', partial_json: JSON.stringify(b.input) } });
    } else send('content_block_start', { index: i, content_block: b });
    send('content_block_stop', { index: i });
  }
  send('message_delta', { delta: { stop_reason: msg.stop_reason, stop_sequence: null }, usage: msg.usage });
  send('message_stop', {}); res.end();
}
const server = http.createServer(async (req, res) => {
  let raw = ''; for await (const c of req) raw += c;
  let body = {}; try { body = raw ? JSON.parse(raw) : {}; } catch { body = { unparsed: raw.slice(0, 2000) }; }
  const url = req.url.split('?')[0], headers = Object.fromEntries(Object.entries(req.headers).filter(([k]) => !/authorization|api-key|cookie/i.test(k)));
  const k = ++n, file = path.join(logDir, String(k).padStart(4, '0') + '.json'), rec = { n: k, ts: new Date().toISOString(), method: req.method, path: req.url, headers, body };
  const save = () => fs.writeFileSync(file, JSON.stringify(rec, null, 1));
  const json = (st, o) => { rec.status = st; rec.reply ??= o; save(); res.writeHead(st, { 'content-type': 'application/json', 'request-id': id('req_') }); res.end(JSON.stringify(o)); };
  const line = s => fs.appendFileSync(path.join(logDir, 'index.txt'), `${String(k).padStart(4, '0')} ${rec.ts.slice(11, 23)} ${req.method} ${url} ${s}\n`);
  try {
    if (req.method === 'POST' && url.endsWith('/messages/count_tokens')) { line('count_tokens'); return json(200, { input_tokens: Math.ceil(raw.length / 4) }); }
    if (req.method === 'POST' && url.endsWith('/messages')) {
      const p = pick(body), r = p.reply; rec.rule = p.rule; rec.step = p.step;
      line(`${body.model} ${body.stream ? 'stream' : 'plain'} tools=${(body.tools || []).length} rule=${p.rule}#${p.step} ${digest(body)}`);
      res.on('close', () => { if (!res.writableFinished) { rec.closed_early = true; save(); } });
      save(); if (r.delay_ms) await sleep(r.delay_ms);
      if (r.hangup) { rec.status = 'hangup'; save(); return res.destroy(); }
      if (r.error) return json(r.error.status, { type: 'error', error: { type: r.error.type || 'api_error', message: r.error.message || 'mock error' } });
      if (r.break_after !== undefined) { const c = p.rule + p.step; breaks[c] = (breaks[c] || 0) + 1; r.breaking = breaks[c] <= (r.break_times ?? 1); rec.broken = r.breaking; }
      const msg = message(body, p); rec.reply = msg; rec.status = 200; save();
      return body.stream ? await stream(res, msg, r) : json(200, msg);
    }
    line(''); json(req.method === 'HEAD' ? 200 : 404, { type: 'error', error: { type: 'not_found_error', message: 'mock: no such endpoint' } });
  } catch (e) { console.error(e); try { json(500, { type: 'error', error: { type: 'api_error', message: String(e) } }); } catch {} }
});
server.listen(port, '127.0.0.1', () => { const a = server.address().port; console.log('listening 127.0.0.1:' + a); if (portfile) fs.writeFileSync(portfile, String(a)); });
for (const s of ['SIGTERM', 'SIGINT']) process.on(s, () => process.exit(0));
