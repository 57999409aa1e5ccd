import { Worker } from 'node:worker_threads';

import type { QueryOutcome, QueryReply, QueryRequest } from './protocol.ts';

const MEMORY_CHECK_MS = 20;
const GRACE_MS = 1000;
const MAX_HEAP_MB = 128;
const REUSE_BELOW = 0.75;
const EXTENSION = import.meta.url.endsWith('.ts') ? '.ts' : '.js';

// Queries run in a worker thread, because SQLite blocks its thread. The main thread stays responsive to the parent,
// watches memory and time, and kills the whole process if a statement does not end.
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
thread.on('message', (outcome: QueryOutcome) => {
  clearInterval(watch);
  // Not all memory of a query is released, and it would count against the next one.
  reply({ outcome, last: process.memoryUsage.rss() > maxMemoryBytes * REUSE_BELOW });
});
thread.on('error', endForMemory); // out of heap: the thread catches all other errors itself
process.on('disconnect', endNow); // the parent has ended
// A terminal sends these signals to the whole process group; the parent decides when its children end.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);

function endForMemory(): void {
  clearInterval(watch);
  reply({ outcome: { kind: 'exhausted' }, last: true }, endNow);
}

function reply(message: QueryReply, sent: () => void = () => undefined): void {
  process.send?.(message, sent);
}

/** Not `process.exit`: that would wait for the thread, whose statement may never end. */
function endNow(): void {
  process.kill(process.pid, 'SIGKILL');
}
