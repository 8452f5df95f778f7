// mock.mjs - what the scripted stand-ins for the services of models share: scenario, log, server (loopback only, no
// dependencies, Node >= 18). mock-responses.mjs, mock-chat.mjs and mock-gemini.mjs each add one protocol.
//
//   node mock-X.mjs --scenario s.json --log DIR [--port 0]
//
// Prints "listening 127.0.0.1:PORT". The scenario is that of mock-anthropic.mjs, re-read on every request:
//   { "rules": [ { "match": "T1",            // regex on the last text of the user, without what clients put around it
//                  "steps": [ REPLY, .. ] }, // step i answers the request in which the model has spoken i times after that
//                .. ],                       // text (stateless: works across resume/fork/restart); the last step repeats
//     "aside": REPLY,                        // answers requests without tools: titles, summaries; default text "MOCK SUMMARY"
//     "fallback": REPLY,                     // otherwise; default text "mock: ok"
//     "usage": { .. } }                      // default usage numbers, in Anthropic's words
//   REPLY = { "text": "..", "thinking": "..", "tool": "Bash", "input": {..},         // shorthand, or:
//             "content": [ {"type":"text","text":".."}, {"type":"tool_use","name":"Bash","input":{..}} ],
//             "usage": {"input_tokens":1,"cache_read_input_tokens":3,"output_tokens":4},
//             "hold": "/path",               // wait after the first piece of text until that file exists
//             "error": {"status": 400, "type": "invalid_request_error", "message": ".."} }
//   The tools "Bash" {command} and "Agent" {description, prompt} are translated into the client's own, others pass as they are.
// Log: DIR/NNNN.json = {n, ts, method, path, body, said, side, rule, step, reply, status, closed_early}
//      said = [ {"role": "user" or "assistant", "text": "..", "calls": ["tool", ..]}, .. ], the conversation in the request's body;
//      side = it is about the conversation (a title, a summary), not a part of it.
//      DIR/index.txt = one line per request: number, path, rule, digest of the conversation that was sent.
import http from 'node:http'; import fs from 'node:fs'; import path from 'node:path';
const arg = (k, d) => { const i = process.argv.indexOf('--' + k); return i < 0 ? d : process.argv[i + 1]; };
const scenarioFile = arg('scenario'), logDir = arg('log', './mocklog'), port = +arg('port', 0);
export const sleep = ms => new Promise(r => setTimeout(r, ms));
const scenario = () => { try { return JSON.parse(fs.readFileSync(scenarioFile, 'utf8')); } catch (e) { console.error('scenario: ' + e.message); return {}; } };

// own takes away what clients put around what a user says: <environment_context>..</environment_context> and the like.
export const own = s => (s || '').replace(/<([a-z][\w:-]*)\b[^>]*>[\s\S]*?<\/\1>/g, '').trim();

// speak joins what one answer consists of: in some protocols text and each call are items of their own.
export function speak(said, role, text, calls = []) {
  const last = said.at(-1);
  if (role === 'assistant' && last?.role === role) { last.text += text; last.calls.push(...calls); } else said.push({ role, text, calls });
}

function pick(said) {
  const s = scenario(); let after = 0, i = said.length - 1;
  for (; i >= 0 && !(said[i].role === 'user' && said[i].text); i--) if (said[i].role === 'assistant') after++;
  const text = said[i]?.text || '';
  for (const r of s.rules || []) {
    if (r.match && !new RegExp(r.match, 's').test(text)) continue;
    const step = Math.min(after, r.steps.length - 1);
    return { rule: r.match, step, reply: r.steps[step], usage: s.usage };
  }
  return { rule: 'fallback', step: 0, reply: s.fallback || { text: 'mock: ok' }, usage: s.usage };
}

// aside answers what the client asks for itself; the conversation in it is not what it is about.
function aside() { const s = scenario(); return { rule: 'side', step: 0, reply: s.aside || { text: 'MOCK SUMMARY' }, usage: s.usage }; }

function message(p, translate, body) {
  const r = p.reply;
  const content = (r.content || [...(r.thinking ? [{ type: 'thinking', thinking: r.thinking }] : []), ...(r.text !== undefined ? [{ type: 'text', text: r.text }] : []), ...(r.tool ? [{ type: 'tool_use', name: r.tool, input: r.input || {} }] : [])])
    .map(b => b.type === 'tool_use' ? { ...b, ...translate[b.name]?.(b.input || {}, body) } : b);
  return { content, usage: { input_tokens: 10, cache_read_input_tokens: 0, output_tokens: 20, ...p.usage, ...r.usage } };
}

// serve runs the server. protocol = {
//   asks(url),               the path is one that asks the model
//   read(body, url),         { said, side } of a request
//   translate,               { Bash: (input, body) => ({ name, input }), .. }
//   answer(res, msg, hold, url), writes the answer; hold() waits as the scenario wants
//   fail(error),             the body of an error
//   other(url, body) }       the body of the answer to any other request
export function serve(protocol) {
  fs.mkdirSync(logDir, { recursive: true });
  let n = 0;
  const server = http.createServer(async (req, res) => {
    let raw = ''; for await (const c of req) raw += c;
    let body = {}; try { body = raw ? JSON.parse(raw) : {}; } catch { body = { unparsed: raw.slice(0, 2000) }; }
    const k = String(++n).padStart(4, '0'), rec = { n, ts: new Date().toISOString(), method: req.method, path: req.url, body };
    const save = () => { const f = path.join(logDir, k + '.json'); fs.writeFileSync(f + '.new', JSON.stringify(rec, null, 1)); fs.renameSync(f + '.new', f); };
    const json = (status, o) => { rec.status = status; rec.reply ??= o; save(); res.writeHead(status, { 'content-type': 'application/json' }); res.end(JSON.stringify(o)); };
    const line = s => fs.appendFileSync(path.join(logDir, 'index.txt'), `${k} ${rec.ts.slice(11, 23)} ${req.method} ${req.url} ${s}\n`);
    try {
      if (req.method !== 'POST' || !protocol.asks(req.url)) { line(''); return json(200, protocol.other(req.url, body)); }
      Object.assign(rec, protocol.read(body, req.url));
      const p = rec.side ? aside() : pick(rec.said), r = p.reply; rec.rule = p.rule; rec.step = p.step;
      line(`${rec.side ? 'side ' : ''}rule=${p.rule}#${p.step} ` + rec.said.map(m => m.role[0].toUpperCase() + '[' + [m.text && JSON.stringify(m.text.slice(0, 60)), ...m.calls].filter(Boolean).join(',') + ']').join(' '));
      res.on('close', () => { if (!res.writableFinished) { rec.closed_early = true; save(); } });
      if (r.error) return json(r.error.status, protocol.fail(r.error));
      const msg = message(p, protocol.translate, body); rec.reply = msg; rec.status = 200; save();
      await protocol.answer(res, msg, async () => { while (r.hold && !fs.existsSync(r.hold) && !res.destroyed) await sleep(20); }, { url: req.url, body, id: `mock_${Date.now().toString(36)}_${n}` });
    } catch (e) { console.error(e); try { json(500, protocol.fail({ type: 'api_error', message: String(e) })); } catch {} }
  });
  server.listen(port, '127.0.0.1', () => console.log('listening 127.0.0.1:' + server.address().port));
  for (const s of ['SIGTERM', 'SIGINT']) process.on(s, () => process.exit(0));
}

// stream begins an answer of server-sent events and returns what sends one.
export function stream(res) {
  res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  return (data, event) => { if (!res.destroyed) res.write((event ? `event: ${event}\n` : '') + `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`); };
}

// pieces of a text, of forty characters.
export const pieces = text => text.match(/[\s\S]{1,40}/g) || [];
