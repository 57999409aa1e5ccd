// A small MCP server of the protocol version 2025-06-18 over stdio, without dependencies. Its arguments are a file that
// counts executions and starts, and `exits-on-probe`, `exits-at-start`, `prints-noise`, `confirms-cancel`.
import { spawn } from 'node:child_process';
import { appendFileSync, closeSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [journal = '', mode = ''] = process.argv.slice(2);
const note = (text) => journal !== '' && appendFileSync(journal, `${text}\n`);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const waiting = new Map();
let asked = 0;

note(`start ${process.pid}`);
if (mode === 'exits-at-start') process.exit(3);
if (mode === 'prints-noise') process.stdout.write('listening on stdio\n');

const tools = {
  echo: ({ text: said }) => text(said),
  environment: () => ({ structuredContent: process.env, content: [] }),
  hang: () => {
    note('hang');
    return null;
  },
  crash: () => process.exit(7),
  mute: () => {
    note('mute');
    closeSync(1);
    return null;
  },
  warn: ({ lines }) => {
    for (const line of lines) process.stderr.write(`${line}\n`);
    return text('warned');
  },
  large: ({ bytes }) => text('x'.repeat(bytes)),
  fork: ({ ignores }) => {
    const program = `${ignores ? 'process.on("SIGTERM", () => {});' : ''} process.stderr.write("up"); setInterval(() => {}, 1000)`;
    const child = spawn(process.execPath, ['-e', program], { stdio: ['inherit', 'inherit', 'pipe'] });
    // It ignores the signal as soon as it writes.
    return new Promise((resolve) => child.stderr.once('data', () => resolve(text(String(child.pid)))));
  },
  ask: async ({ question }) => {
    const id = `ask-${(asked += 1)}`;
    send({
      id,
      method: 'elicitation/create',
      params: { message: question, requestedSchema: { type: 'object' } },
    });
    return text(JSON.stringify(await new Promise((resolve) => waiting.set(id, resolve))));
  },
  // Asks during the next call, of `pid`.
  askLate: ({ question }) => {
    note('hang');
    tools.pid = async () => (await tools.ask({ question }), text(String(process.pid)));
    return null;
  },
  pid: () => text(String(process.pid)),
  roots: async () => {
    send({ id: 'roots', method: 'roots/list' });
    return text(JSON.stringify(await new Promise((resolve) => waiting.set('roots', resolve))));
  },
  progress: (_, meta) => {
    const { progressToken } = meta;
    send({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2 } });
    return text('done');
  },
};

async function respond({ id, method, params }) {
  if (method === 'initialize')
    return send({
      id,
      result: {
        protocolVersion: '2025-06-18',
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'legacy', version: '1.0' },
        _meta: { declared: params.capabilities },
      },
    });
  if (mode === 'exits-on-probe' && method === 'server/discover') process.exit(1);
  if (method === 'tools/list')
    return send({
      id,
      result: { tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })) },
    });
  if (method !== 'tools/call') return send({ id, error: { code: -32601, message: 'Method not found' } });
  note(`call ${params.name}`);
  const result = await tools[params.name](params.arguments, params._meta);
  if (result !== null) send({ id, result });
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.method === 'notifications/cancelled') {
    const { requestId } = message.params;
    note(`cancelled ${requestId}`);
    if (mode === 'confirms-cancel') {
      tools.pid = () => text(String(process.pid));
      send({ id: requestId, error: { code: -32800, message: 'Request cancelled' } });
    }
  }
  if (message.method === undefined) waiting.get(message.id)?.(message.result ?? message.error);
  else if (message.id !== undefined) respond(message).catch((error) => note(`failed ${error}`));
});
