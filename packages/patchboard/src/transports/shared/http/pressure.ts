import type { FastifyInstance } from 'fastify';
import { failure } from '../../../core/failures.ts';
import type { Heap } from '../../../core/ports.ts';
import type { HttpLimits } from './http-limits.ts';
import { sendProblem } from '../routes/problem.ts';

const CHECK_EVERY_MS = 250;

/** Above this share of the heap limit, garbage collection takes the CPU time that requests need. */
const HEAP_SHARE = 0.9;

/** Routes that are never refused: operators need them under load. The console is served from memory and needs all its files. */
const ALWAYS_OPEN: ReadonlySet<string> = new Set(['/healthz', '/metrics', '/', '/ui/*']);

/**
 * Load shedding: refuses requests with 503 while the event loop is late or the heap is nearly full. A timer measures the
 * delay, so a request only reads a flag.
 */
export function refuseUnderPressure(app: FastifyInstance, limits: HttpLimits, heap: Heap): void {
  const watch = new PressureWatch(limits.eventLoopDelayMs, heap);
  app.addHook('onRequest', (request, reply, done) => {
    const isOpen = ALWAYS_OPEN.has(request.routeOptions.url ?? '');
    if (watch.isUnderPressure && !isOpen) sendProblem(reply, failure('overloaded'));
    else done();
  });
  app.addHook('onReady', (done) => {
    watch.start();
    done();
  });
  app.addHook('onClose', (_app, done) => {
    watch.stop();
    done();
  });
}

class PressureWatch {
  readonly #maxDelayMs: number;
  readonly #heap: Heap;
  #timer: NodeJS.Timeout | null = null;
  #due = 0;
  isUnderPressure = false;

  constructor(maxDelayMs: number, heap: Heap) {
    this.#maxDelayMs = maxDelayMs;
    this.#heap = heap;
  }

  start(): void {
    this.#due = performance.now() + CHECK_EVERY_MS;
    this.#timer = setTimeout(this.#check, CHECK_EVERY_MS);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  readonly #check = (): void => {
    const delayMs = performance.now() - this.#due;
    const isFull = this.#heap.usedBytes() > this.#heap.limitBytes * HEAP_SHARE;
    this.isUnderPressure = delayMs > this.#maxDelayMs || isFull;
    this.start();
  };
}
