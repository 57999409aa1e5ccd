// Many devices in a separate process: plain WebSockets that register one tool and return results.
import { once } from 'node:events';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';

export interface DevicesSettings {
  readonly url: string;
  readonly devices: number;
  readonly tool: string;
  /** Default: none, as in local mode. */
  readonly headers?: Readonly<Record<string, string>>;
}

const { url, devices, tool, headers = {} } = JSON.parse(process.argv[2] ?? '') as DevicesSettings;
const REGISTER = JSON.stringify({
  type: 'register_tools',
  tools: [
    {
      name: tool,
      description: 'A tool of the benchmark.',
      parameters: { type: 'object' },
      timeout_ms: 60_000,
    },
  ],
});
/** Concurrent connects: connecting all devices at the same moment would be another test. */
const AT_ONCE = 100;

/** A busy server refuses before the upgrade: retry, as devices do. */
async function open(): Promise<WebSocket> {
  for (;;) {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { perMessageDeflate: false, headers });
    try {
      await once(socket, 'open');
      return socket;
    } catch (error) {
      if (!String(error).includes('503')) throw error;
      await sleep(200);
    }
  }
}

async function connect(): Promise<void> {
  const socket = await open();
  socket.send(REGISTER);
  const registered = once(socket, 'message');
  await registered;
  socket.on('message', (data) => {
    const frame = JSON.parse((data as Buffer).toString('utf8')) as {
      type: string;
      id: string;
      args: unknown;
    };
    if (frame.type !== 'tool_call_request') return;
    socket.send(JSON.stringify({ type: 'tool_result', id: frame.id, output: frame.args, success: true }));
  });
  socket.on('close', (code) => {
    process.stderr.write(`a device was closed with ${code}\n`);
    process.exitCode = 1;
  });
}

for (let made = 0; made < devices; made += AT_ONCE) {
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, devices - made) }, connect));
}
process.stdout.write(`connected to ${url}\n`);
await once(process, 'SIGTERM');
process.exit(0);
