// A server that shares its store with others: `node-child.ts EFFECTS_FILE [fenced]`. Configured by the environment. `fenced`:
// another node takes it for dead before its first heartbeat. It does not end while the file TEST_HOLD exists.
import { appendFileSync, existsSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { runServer } from '../../../src/cli/commands/serve.ts';
import type { Log, Store } from '../../../src/core/ports.ts';
import type { ServerTool } from '../../../src/core/tools/server-tool.ts';
import { environment } from '../../../src/settings/environment.ts';
import { resolveSettings } from '../../../src/settings/settings.ts';
import { openStore } from '../../../src/wiring/open-store.ts';

const [effectsFile = '', start = ''] = process.argv.slice(2);

/** Records each execution, and that it was stopped, and ends after `ms`. */
function tool(name: string, annotations: ServerTool['annotations']): ServerTool {
  return {
    name,
    description: 'records that it ran',
    inputSchema: { type: 'object', properties: { ms: { type: 'integer' } } },
    outputSchema: null,
    timeoutMs: 60_000,
    annotations,
    metadata: null,
    concurrency: null,
    execute: async (args, { callId, signal }) => {
      appendFileSync(effectsFile, `${callId} ${process.pid}\n`);
      signal.addEventListener('abort', () => appendFileSync(effectsFile, `stopped ${callId}\n`));
      const { ms = 0 } = args as { readonly ms?: number };
      await pause(ms, undefined, { signal });
      return { pid: process.pid };
    },
  };
}

/** Blocks the event loop of the node for `ms`, and records when that begins and ends. */
const block: ServerTool = {
  ...tool('test.block', {}),
  execute: (args) => {
    appendFileSync(effectsFile, `blocked ${process.pid}\n`);
    const end = performance.now() + (args as { readonly ms: number }).ms;
    while (performance.now() < end);
    appendFileSync(effectsFile, `unblocked ${process.pid}\n`);
    return Promise.resolve({ pid: process.pid });
  },
};

/** Makes the clock of this machine wrong by that number of milliseconds. */
function shiftClock(ms: number): void {
  const RightDate = Date;
  const now = (): number => RightDate.now() + ms;
  globalThis.Date = class extends RightDate {
    constructor(...given: readonly [] | readonly [number]) {
      super(given[0] ?? now());
    }

    static override now(): number {
      return now();
    }
  } as DateConstructor;
}

shiftClock(Number(environment()['TEST_CLOCK_OFFSET_MS'] ?? 0));
const tools = [tool('test.effect', {}), tool('test.risky', { destructive: true }), block];
const settings = resolveSettings(environment(), {});
let isFencedNext = start === 'fenced';

/** As the server itself opens it. */
async function openAndFence(_file: string, log: Log): Promise<Store> {
  const store = await openStore(settings, log);
  if (isFencedNext && settings.store.kind === 'postgres') {
    isFencedNext = false;
    const client = new pg.Client(settings.store.url);
    await client.connect();
    await client.query(`update ${settings.store.schema}.writers set epoch = epoch + 1, state = 'free'
      where holder like '%process ${process.pid}'`);
    await client.end();
  }
  return store;
}

async function close(): Promise<void> {
  while (existsSync(environment()['TEST_HOLD'] ?? '')) await pause(20);
}

await runServer(settings, { packs: [{ name: 'test', tools, close }], openStore: openAndFence });
