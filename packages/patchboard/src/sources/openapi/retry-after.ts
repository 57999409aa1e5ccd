import { reason } from '@patchboard/wire';
import { failure, ToolFailure } from '../../core/failures.ts';
import type { Clock } from '../../core/ports.ts';
import type { ToolContext } from '../../core/tools/server-tool.ts';
import type { Operation } from './operation.ts';

/** A server cannot close an operation for longer. */
const LONGEST_MS = 300_000;

/** Returns the wait that a `Retry-After` header requests, in milliseconds: seconds or a date. Null if there is none. */
export function retryAfterMs(header: string | null, now: number): number | null {
  if (header === null) return null;
  const text = header.trim();
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), LONGEST_MS);
}

/** Stores until when no request of an operation may be sent, as `Retry-After` of its server says. */
export class RetryAfter {
  readonly #clock: Clock;
  /** Monotonic milliseconds by method and path. */
  readonly #closedUntil = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(operation: Operation, ms: number): void {
    this.#closedUntil.set(keyOf(operation), this.#clock.elapsed() + ms);
  }

  /** Waits until the operation may be called, by `pause`. Throws `ToolFailure`, not started, if that is after the deadline. */
  async wait(
    operation: Operation,
    { deadlineAt }: Pick<ToolContext, 'deadlineAt'>,
    pause: (ms: number) => Promise<void>,
  ): Promise<void> {
    const key = keyOf(operation);
    const ms = (this.#closedUntil.get(key) ?? 0) - this.#clock.elapsed();
    if (ms <= 0) {
      this.#closedUntil.delete(key);
      return;
    }
    if (this.#clock.now() + ms >= deadlineAt) {
      const { method, path } = operation;
      const why = reason('openapi_retry_after', { method, path, seconds: Math.ceil(ms / 1000) });
      throw new ToolFailure(failure('upstream_unreachable', why, { outcome: 'not_started' }));
    }
    await pause(ms);
  }

  clear(): void {
    this.#closedUntil.clear();
  }
}

function keyOf({ method, path }: Operation): string {
  return `${method} ${path}`;
}
