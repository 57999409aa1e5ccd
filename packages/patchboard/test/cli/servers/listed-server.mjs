// An MCP server over stdio, without dependencies, that offers the tools of a JSON file. The file is its argument. `SECRET` of its
// environment is a part of the server's version, and of its error messages.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [file = ''] = process.argv.slice(2);
const secret = process.env.SECRET ?? '';

function resultOf(method) {
  if (method === 'initialize')
    return {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'listed', version: `1.0 ${secret}` },
    };
  return method === 'tools/list' ? { tools: JSON.parse(readFileSync(file, 'utf8')) } : undefined;
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const result = resultOf(method);
  const error = { code: -32601, message: `no method ${method} ${secret}` };
  const message = { jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) };
  process.stdout.write(`${JSON.stringify(message)}\n`);
});
