// A device of the chaos tests: one tool, an outbox on disk, and a trace of everything it did.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { connectDevice, deviceTool, type OutboxStorage } from '@patchboard/client';
import { DEVICE_PACE, type DeviceWorkerOptions } from './device-worker-options.ts';

/** One execution, or one acknowledgement of its result. */
export type DeviceTrace =
  | { readonly kind: 'ran'; readonly n: number; readonly id: string }
  | {
      readonly kind: 'fate';
      readonly id: string;
      readonly accepted: boolean;
      readonly reason: string | null;
    };

/** Messages to the parent process. */
export type DeviceWord = {
  readonly word: 'online' | 'begun' | 'returning' | 'acknowledged';
  readonly n?: number;
};

const options = JSON.parse(process.argv[2] ?? '') as DeviceWorkerOptions;
const waiting = new Map<number, () => void>();
const tell = (word: DeviceWord): void => void process.send?.(word);
const trace = (line: DeviceTrace): void => appendFileSync(options.effectsFile, `${JSON.stringify(line)}\n`);

/** One line per change, so that a kill leaves at most an incomplete last line. */
function fileOutbox(file: string): OutboxStorage {
  const write = (line: readonly [string, string | null]): void =>
    appendFileSync(file, `${JSON.stringify(line)}\n`);
  return {
    load: () => {
      const kept = new Map<string, string>();
      const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
      for (const line of text.slice(0, text.lastIndexOf('\n') + 1).split('\n')) {
        if (line === '') continue;
        const [id, frame] = JSON.parse(line) as [string, string | null];
        if (frame === null) kept.delete(id);
        else kept.set(id, frame);
      }
      writeFileSync(file, [...kept].map((entry) => `${JSON.stringify(entry)}\n`).join(''));
      return [...kept];
    },
    put: (id, frame) => write([id, frame]),
    delete: (id) => write([id, null]),
  };
}

const numbers = new Map<string, number>();
connectDevice(options.url, {
  clientId: options.tool,
  name: options.tool,
  outbox: fileOutbox(options.outboxFile),
  openTimeoutMs: DEVICE_PACE.openTimeoutMs,
  stableMs: DEVICE_PACE.stableMs,
  retry: { baseDelayMs: DEVICE_PACE.baseDelayMs, maxDelayMs: DEVICE_PACE.maxDelayMs },
  tools: [
    deviceTool<{ n: number }>({
      name: options.tool,
      timeoutMs: options.timeoutMs,
      run: async ({ n }, { id, signal }) => {
        trace({ kind: 'ran', n, id });
        numbers.set(id, n);
        tell({ word: 'begun', n });
        await new Promise<void>((resolve) => {
          waiting.set(n, resolve);
          signal.addEventListener('abort', () => resolve());
        });
        tell({ word: 'returning', n });
        return { n, id };
      },
    }),
  ],
  onState: (state) => {
    if (state === 'online') tell({ word: 'online' });
  },
  onProblem: ({ kind, message }) => {
    appendFileSync(`${options.effectsFile}.problems`, `${new Date().toISOString()} ${kind}: ${message}\n`);
  },
  onResult: ({ id, accepted, reason }) => {
    trace({ kind: 'fate', id, accepted, reason });
    const n = numbers.get(id);
    tell({ word: 'acknowledged', ...(n === undefined ? {} : { n }) });
  },
});

process.on('message', (message: { readonly finish: number }) => waiting.get(message.finish)?.());
// Exit when the parent process is gone.
process.on('disconnect', () => process.exit(0));
