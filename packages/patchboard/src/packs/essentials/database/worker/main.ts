import { Worker } from 'node:worker_threads';

import type { QueryAnswer, QueryReply, QueryRequest } from './protocol.ts';

const MEMORY_CHECK_MS = 20;
const GRACE_MS = 1000;
const MAX_HEAP_MB = 128;
const REUSE_BELOW = 0.75;
const EXTENSION = import.meta.url.endsWith('.ts') ? '.ts' : '.js';

// The child keeps its main thread free: it hears its parent, watches memory and time, and ends the whole process
// while SQLite, in the thread, is deep in a statement that never asks whether it should stop.
const thread = new Worker(new URL(`./runner${EXTENSION}`, import.meta.url), {
  resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  stdout: true,
  stderr: true,
});
let watch: NodeJS.Timeout | undefined;
let maxMemoryBytes = Number.POSITIVE_INFINITY; // known with the first request

process.on('message', (request: QueryRequest) => {
  maxMemoryBytes = request.limits.maxMemoryBytes;
  const endAt = performance.now() + request.budgetMs + GRACE_MS;
  watch = setInterval(() => {
    if (process.memoryUsage.rss() > maxMemoryBytes) endForMemory();
    else if (performance.now() > endAt) endNow();
  }, MEMORY_CHECK_MS);
  thread.postMessage(request);
});
thread.on('message', (answer: QueryAnswer) => {
  clearInterval(watch);
  // Memory that a query took does not all come back, and the next one must not pay for it.
  reply({ answer, last: process.memoryUsage.rss() > maxMemoryBytes * REUSE_BELOW });
});
thread.on('error', endForMemory); // it ran out of its heap; its own code catches everything else
process.on('disconnect', endNow); // the parent is gone, whatever became of it
// A terminal sends these to the whole group; the parent decides when its children end.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);

function endForMemory(): void {
  clearInterval(watch);
  reply({ answer: { kind: 'exhausted' }, last: true }, endNow);
}

function reply(message: QueryReply, sent: () => void = () => undefined): void {
  process.send?.(message, sent);
}

/** `process.exit` would wait for the thread, which may never come back from a statement. */
function endNow(): void {
  process.kill(process.pid, 'SIGKILL');
}
