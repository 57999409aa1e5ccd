import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { Findings, type ScenarioReport } from './scenario.ts';

export type HeapRequest =
  { readonly kind: 'measure'; readonly tool: string; readonly calls: number } | { readonly kind: 'close' };

export type HeapReply =
  | { readonly kind: 'ready'; readonly tools: readonly string[] }
  | { readonly kind: 'measured'; readonly measurement: HeapMeasurement }
  | { readonly kind: 'failed'; readonly message: string };

export interface HeapMeasurement {
  readonly calls: number;
  /** Size of the smallest call: its arguments and result, as JSON, and the data that the tool fetched. */
  readonly bytesPerCall: number;
  /** Required minimum of that size, or the measurement proves nothing. */
  readonly atLeastBytes: number;
  /** Heap and buffers after all calls, less the same before them, both after a collection. */
  readonly grownBytes: number;
}

/** An additional tool that leaks its arguments, to test the measurement itself. */
export const LEAKING_TOOL = 'heap.leaking';

const WORKER = fileURLToPath(new URL('./tools-heap-worker.ts', import.meta.url));
/** Allowance for compiled code and caches during the measured calls. */
const NOISE_BYTES = 2 * 2 ** 20;
/** Fraction of a call's size that counts as a leak. */
const LEAKED_SHARE = 0.2;

/** A child process with every built-in tool. */
export class HeapProcess {
  readonly tools: readonly string[];
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, tools: readonly string[]) {
    this.#child = child;
    this.tools = tools;
  }

  static async start(folder: string): Promise<HeapProcess> {
    const child = fork(WORKER, [folder], {
      execArgv: ['--expose-gc', '--conditions=patchboard-source'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const endWithUs = (): void => void child.kill('SIGKILL');
    process.once('exit', endWithUs);
    child.once('exit', () => process.removeListener('exit', endWithUs));
    const reply = await nextReply(child);
    if (reply.kind !== 'ready') throw new Error(`the heap process did not start: ${JSON.stringify(reply)}`);
    return new HeapProcess(child, reply.tools);
  }

  async measure(tool: string, calls: number): Promise<HeapMeasurement> {
    this.#child.send({ kind: 'measure', tool, calls } satisfies HeapRequest);
    const reply = await nextReply(this.#child);
    if (reply.kind !== 'measured') throw new Error(`${tool}: ${JSON.stringify(reply)}`);
    return reply.measurement;
  }

  async close(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.send({ kind: 'close' } satisfies HeapRequest);
    await exited;
  }
}

/** Problems of a measurement; empty if the heap is flat. */
export function heapProblems(tool: string, measured: HeapMeasurement): string[] {
  const { calls, bytesPerCall, atLeastBytes, grownBytes } = measured;
  const findings = new Findings();
  findings.check(
    bytesPerCall >= atLeastBytes,
    `${tool}: a call has ${bytesPerCall} bytes, expected at least ${atLeastBytes}`,
  );
  const bound = NOISE_BYTES + calls * bytesPerCall * LEAKED_SHARE;
  findings.check(
    grownBytes < bound,
    `${tool}: the heap grew by ${grownBytes} bytes over ${calls} calls of ${bytesPerCall} bytes; the bound is ${bound}`,
  );
  return findings.violations;
}

/** Each built-in tool, `calls` times: the heap after a collection is as large as before. */
export async function runToolsHeap(folder: string, calls: number): Promise<ScenarioReport> {
  const heap = await HeapProcess.start(folder);
  const facts: Record<string, string> = {};
  const violations: string[] = [];
  try {
    for (const tool of heap.tools) {
      const measured = await heap.measure(tool, calls);
      facts[tool] =
        `${calls} calls of ${measured.bytesPerCall} bytes, heap ${signed(measured.grownBytes / 1024)} KiB`;
      violations.push(...heapProblems(tool, measured));
    }
  } finally {
    await heap.close();
  }
  return { facts, violations };
}

function signed(value: number): string {
  return `${value < 0 ? '' : '+'}${value.toFixed(0)}`;
}

async function nextReply(child: ChildProcess): Promise<HeapReply> {
  return await new Promise<HeapReply>((resolve, reject) => {
    const onExit = (code: number | null, signal: string | null): void => {
      child.off('message', onMessage);
      reject(new Error(`the heap process ended with ${signal ?? code}`));
    };
    const onMessage = (reply: unknown): void => {
      child.off('exit', onExit);
      resolve(reply as HeapReply);
    };
    child.once('message', onMessage);
    child.once('exit', onExit);
  });
}
