// Measures acknowledgements of results: many WebSockets, each with a few results in flight, until all are acknowledged.
import { once } from 'node:events';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';

export interface AcknowledgeSettings {
  readonly url: string;
  readonly sockets: number;
  readonly results: number;
  /** Null if the server accepts any id. Else calls of this tool are made first. */
  readonly tool: string | null;
}

export interface Acknowledged {
  readonly perSecond: number;
}

const WINDOW = 16;
const settings = JSON.parse(process.argv[2] ?? '') as AcknowledgeSettings;
const sockets = await Promise.all(Array.from({ length: settings.sockets }, open));
const work = settings.tool === null ? sockets.map(madeUp) : await askedFor(settings.tool);
const began = performance.now();
await Promise.all(sockets.map((socket, index) => deliver(socket, work[index] ?? [])));
const total = work.reduce((sum, ids) => sum + ids.length, 0);
const acknowledged: Acknowledged = { perSecond: (total / (performance.now() - began)) * 1000 };
process.stdout.write(`${JSON.stringify(acknowledged)}\n`);
for (const socket of sockets) socket.terminate();
process.exit(0);

async function open(): Promise<WebSocket> {
  const socket = new WebSocket(`${settings.url.replace('http', 'ws')}/ws`, { perMessageDeflate: false });
  await once(socket, 'open');
  if (settings.tool === null) return socket;
  const tool = { name: settings.tool, parameters: { type: 'object' }, timeout_ms: 600_000 };
  socket.send(JSON.stringify({ type: 'register_tools', tools: [tool] }));
  await once(socket, 'message');
  return socket;
}

function madeUp(): string[] {
  const count = Math.ceil(settings.results / settings.sockets);
  return Array.from(
    { length: count },
    (_, index) => `tc_01m7exhay00000tc46jfr1rkbb:${index}.Q6kkd7wjp2iMpCUjgNFjKQ`,
  );
}

/** Each socket sends results for its own requests. */
async function askedFor(tool: string): Promise<string[][]> {
  const asked = sockets.map((): string[] => []);
  let left = settings.results;
  const all = new Promise<void>((resolve) => {
    for (const [index, socket] of sockets.entries()) {
      socket.on('message', (data) => {
        const frame = JSON.parse((data as Buffer).toString('utf8')) as { type: string; id: string };
        if (frame.type !== 'tool_call_request') return;
        asked[index]?.push(frame.id);
        if ((left -= 1) === 0) resolve();
      });
    }
  });
  let next = 0;
  const ask = async (lane: number): Promise<void> => {
    while ((next += 1) <= settings.results) {
      const body = JSON.stringify({ run_id: `run_${lane}_${next % settings.sockets}`, args: {} });
      await untilTaken(`${settings.url}/v1/tools/${tool}/invoke`, body);
    }
  };
  await Promise.all(Array.from({ length: 32 }, (_, lane) => ask(lane)));
  await all;
  for (const socket of sockets) socket.removeAllListeners('message');
  return asked;
}

/** A busy machine refuses some connections: retry. Connecting is not measured. */
async function untilTaken(url: string, body: string): Promise<void> {
  for (;;) {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body });
    const text = await response.text();
    if (response.status === 202) return;
    if (response.status !== 503) throw new Error(`refused: ${response.status} ${text}`);
    await sleep(100);
  }
}

async function deliver(socket: WebSocket, ids: readonly string[]): Promise<void> {
  let sent = 0;
  let done = 0;
  await new Promise<void>((resolve, reject) => {
    const send = (): void => {
      const id = ids[sent];
      if (id === undefined) return;
      sent += 1;
      socket.send(JSON.stringify({ type: 'tool_result', id, output: { value: 42 }, success: true }));
    };
    socket.on('message', (data) => {
      const frame = JSON.parse((data as Buffer).toString('utf8')) as { type: string; accepted?: boolean };
      if (frame.type !== 'result_acknowledged') return;
      if (frame.accepted !== true) reject(new Error(`a result was not kept: ${JSON.stringify(frame)}`));
      if ((done += 1) === ids.length) resolve();
      else send();
    });
    if (ids.length === 0) resolve();
    for (let window = 0; window < WINDOW; window += 1) send();
  });
}
