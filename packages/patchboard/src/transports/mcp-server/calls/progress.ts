import { isRecord } from '@patchboard/wire/json';
import type { Clock } from '../../../core/ports.ts';

/** Parameters of `notifications/progress`, without the token. */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** One less than the limit of 10 a second: the last report is sent with the response. */
const PER_SECOND = 9;
const SECOND_MS = 1000;
const MESSAGE_CHARACTERS = 500;

/**
 * Limits the progress reports of one request. If they come too fast, only the newest is kept, and sent as soon as the limit
 * allows or at the end. A report that does not increase the progress is dropped: the protocol forbids it.
 */
export class ProgressLimiter {
  readonly #clock: Pick<Clock, 'after' | 'elapsed'>;
  readonly #send: (progress: Progress) => void;
  /** When the last reports were sent. */
  #sentAt: readonly number[] = [];
  #newest = -Infinity;
  #waiting: Progress | null = null;
  #disarm: (() => void) | null = null;

  constructor(clock: Pick<Clock, 'after' | 'elapsed'>, send: (progress: Progress) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /** `data`: what the tool reported. */
  report(data: unknown): void {
    const progress = this.#read(data);
    if (progress.progress <= this.#newest) return;
    this.#newest = progress.progress;
    this.#waiting = progress;
    if (this.#disarm !== null) return;
    const waitMs = this.#waitMs();
    if (waitMs <= 0) this.#flush();
    else this.#disarm = this.#clock.after(waitMs, () => this.#flush());
  }

  /** Sends the report that waits. */
  end(): void {
    this.#disarm?.();
    if (this.#waiting !== null) this.#flush();
  }

  #flush(): void {
    this.#disarm = null;
    const progress = this.#waiting;
    if (progress === null) return;
    this.#waiting = null;
    this.#sentAt = [...this.#sentAt, this.#clock.elapsed()].slice(-PER_SECOND);
    this.#send(progress);
  }

  #waitMs(): number {
    const [oldest = -Infinity] = this.#sentAt.length < PER_SECOND ? [] : this.#sentAt;
    return oldest + SECOND_MS - this.#clock.elapsed();
  }

  /** Data without a number counts as one step. */
  #read(data: unknown): Progress {
    if (isNumber(data)) return { progress: data };
    if (!isRecord(data) || !isNumber(data['progress'])) {
      const step = this.#newest === -Infinity ? 1 : Math.floor(this.#newest) + 1;
      return { progress: step, message: messageText(data) };
    }
    const { progress, total, message } = data;
    return {
      progress: progress as number,
      ...(isNumber(total) ? { total } : {}),
      ...(message === undefined ? {} : { message: messageText(message) }),
    };
  }
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function messageText(data: unknown): string {
  const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
  return text.length <= MESSAGE_CHARACTERS ? text : `${text.slice(0, MESSAGE_CHARACTERS - 1)}…`;
}
