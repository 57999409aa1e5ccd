// An MCP server of the protocol version 2025-06-18 over stdio, without dependencies. Its arguments are a journal, which counts
// executions, and a file with the description of its tools. `SECRET` of its environment is a part of everything it sends.
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [journal = '', description = ''] = process.argv.slice(2);
const secret = process.env.SECRET ?? '';
const text = (value) => ({ content: [{ type: 'text', text: `${value} ${secret}` }] });
const send = (message) => write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const write = (chunk) =>
  new Promise((resolve) => (process.stdout.write(chunk) ? resolve() : process.stdout.once('drain', resolve)));

const tools = {
  echo: () => text('said'),
  remove: () => text('removed'),
  hang: () => new Promise(() => {}),
  fail: () => ({ ...text('failed'), isError: true }),
  refuse: () => {
    throw new Error(`refused ${secret}`);
  },
  leak: async (_id, { progressToken }) => {
    process.stderr.write(`the environment has ${secret}\n`);
    const message = `half of ${secret}`;
    await send({
      method: 'notifications/progress',
      params: { progressToken, progress: 1, total: 2, message },
    });
    return { ...text('leaked'), structuredContent: { [`key ${secret}`]: { in: [secret] } } };
  },
  /** A line of 1 GiB. */
  endless: async (id) => {
    await write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":"`);
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    for (let sent = 0; sent < 1024; sent += 1) await write(chunk);
    await write('"}]}}\n');
    return null;
  },
};

function listed(name) {
  return {
    name,
    description: `${description === '' ? '' : readFileSync(description, 'utf8')} ${secret}`,
    inputSchema: { type: 'object' },
    annotations: { destructiveHint: name === 'remove' },
  };
}

async function resultOf(id, method, params) {
  if (method === 'initialize')
    return {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'troublesome', version: `1.0 ${secret}` },
    };
  if (method === 'tools/list') return { tools: Object.keys(tools).map(listed) };
  if (method !== 'tools/call') throw new Error(`no method ${method} ${secret}`);
  appendFileSync(journal, `${params.name} ${process.pid}\n`);
  return await tools[params.name](id, params._meta ?? {});
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  resultOf(id, method, params).then(
    (result) => result !== null && send({ id, result }),
    ({ message }) => send({ id, error: { code: -32601, message } }),
  );
});
