// Child process of the tools-heap scenario: calls one tool many times and reports what the heap holds afterwards.
import process from 'node:process';
import { setImmediate as turn } from 'node:timers/promises';
import { messageOf } from '../../packages/patchboard/src/core/failures.ts';
import type { ServerTool } from '../../packages/patchboard/src/core/tools/server-tool.ts';
import { openToolBoard, type ToolBoard } from './tools-heap-board.ts';
import { REPEATED_CALLS, type RepeatedCall } from './tools-heap-calls.ts';
import { LEAKING_TOOL, type HeapMeasurement, type HeapReply, type HeapRequest } from './tools-heap.ts';

/** Enough for compiled code, caches and the finished background jobs that a run keeps. */
const WARM_UP_CALLS = 40;
const AT_ONCE = 5;
const COLLECTIONS = 8;

const kept: unknown[] = [];
const LEAKING: ServerTool = {
  name: LEAKING_TOOL,
  description: 'Keeps a copy of every argument.',
  inputSchema: { type: 'object' },
  outputSchema: null,
  timeoutMs: 10_000,
  annotations: { readonly: true },
  metadata: null,
  concurrency: null,
  execute: (args) => {
    kept.push(structuredClone(args));
    return null;
  },
};
const LEAKING_CALL: RepeatedCall = {
  atLeastBytes: 50_000,
  call: async (board, n) => (await board.call(LEAKING_TOOL, { text: `${n}`.padEnd(50_000, 'x') })).bytes,
};

const board = await openToolBoard(process.argv[2] ?? '', [LEAKING]);
process.on('message', (request: HeapRequest) => {
  reply(request).catch((error: unknown) => send({ kind: 'failed', message: messageOf(error) }));
});
process.on('disconnect', () => process.exit());
send({ kind: 'ready', tools: board.tools });

async function reply(request: HeapRequest): Promise<void> {
  if (request.kind === 'close') {
    await board.close();
    process.disconnect();
    return;
  }
  const repeated = request.tool === LEAKING_TOOL ? LEAKING_CALL : REPEATED_CALLS[request.tool];
  if (repeated === undefined) throw new Error(`no repeated call is defined for ${request.tool}`);
  send({ kind: 'measured', measurement: await measure(board, repeated, request.calls) });
}

async function measure(board: ToolBoard, repeated: RepeatedCall, calls: number): Promise<HeapMeasurement> {
  await repeated.prepare?.(board);
  await callTimes(board, repeated, 0, WARM_UP_CALLS);
  const before = await heldBytes();
  const bytesPerCall = await callTimes(board, repeated, WARM_UP_CALLS, calls);
  const grownBytes = (await heldBytes()) - before;
  await board.purge();
  return { calls, bytesPerCall, atLeastBytes: repeated.atLeastBytes, grownBytes };
}

/** Resolves with the size of the smallest call. */
async function callTimes(
  board: ToolBoard,
  repeated: RepeatedCall,
  from: number,
  count: number,
): Promise<number> {
  const atOnce = repeated.isSequential === true ? 1 : AT_ONCE;
  let smallest = Number.POSITIVE_INFINITY;
  for (let n = from; n < from + count; n += atOnce) {
    const batch = Array.from({ length: Math.min(atOnce, from + count - n) }, async (_, index) => {
      return await repeated.call(board, n + index);
    });
    smallest = Math.min(smallest, ...(await Promise.all(batch)));
  }
  return smallest;
}

/** Heap and buffers after a collection: the least of several, as finalizers of one free memory for the next. */
async function heldBytes(): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let count = 0; count < COLLECTIONS; count += 1) {
    globalThis.gc?.();
    await turn();
    const { heapUsed, external } = process.memoryUsage();
    least = Math.min(least, heapUsed + external);
  }
  return least;
}

function send(message: HeapReply): void {
  process.send?.(message);
}
