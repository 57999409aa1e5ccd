import type { FastifyInstance } from 'fastify';
import { failure } from '../../../core/failures.ts';
import type { Heap } from '../../../core/ports.ts';
import type { HttpLimits } from './http-limits.ts';
import { sendProblem } from '../routes/problem.ts';

const LOOK_EVERY_MS = 250;

/** Past this share of the heap's limit the collector takes the time that answers need. */
const HEAP_SHARE = 0.9;

/** Somebody looks at these just when the server is in trouble. Half of the console is none: its files lie in memory. */
const ALWAYS_OPEN: ReadonlySet<string> = new Set(['/healthz', '/metrics', '/', '/ui/*']);

/**
 * A server that cannot keep up says so at once, instead of answering everybody late. A timer that fires late tells
 * that the event loop is; one flag is all that a request looks at.
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

export class PressureWatch {
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
    this.#due = performance.now() + LOOK_EVERY_MS;
    this.#timer = setTimeout(this.#look, LOOK_EVERY_MS);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  readonly #look = (): void => {
    const delayMs = performance.now() - this.#due;
    const isFull = this.#heap.usedBytes() > this.#heap.limitBytes * HEAP_SHARE;
    this.isUnderPressure = delayMs > this.#maxDelayMs || isFull;
    this.start();
  };
}
