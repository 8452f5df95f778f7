#!/usr/bin/env node
// mcp.mjs - an MCP server on standard input and output with one tool and instructions, for the tests of forks.
import readline from 'node:readline';
const answer = {
  initialize: p => ({ protocolVersion: p.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'notes', version: '1' }, instructions: 'Notes are in metric units.' }),
  'tools/list': () => ({ tools: [{ name: 'look', description: 'Look up a note', inputSchema: { type: 'object', properties: { name: { type: 'string' } } } }] }),
  'tools/call': p => ({ content: [{ type: 'text', text: `the note ${p.arguments.name}: two metres` }] }),
};
for await (const line of readline.createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const found = answer[method];
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(found ? { result: found(params) } : { error: { code: -32601, message: method } }) }));
}
