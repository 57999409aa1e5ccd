import { setTimeout as pause } from 'node:timers/promises';
import { sseDecoder } from '@patchboard/wire';
import type { LedgerRow } from '../../packages/patchboard/src/core/ledger/ledger.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { Api } from './server-api.ts';

/** Follows all events at one server after the other, from where it was. */
export class EventFollower {
  readonly #api: Api;
  readonly #random: SeededRandom;
  readonly #violations: string[];
  readonly #stop = new AbortController();
  /** Of events `call.state`. */
  readonly #received: Set<number> = new Set();
  readonly #following: Promise<void>;
  #first: number | null = null;
  #last = 0;
  #streams = 0;

  constructor(api: Api, random: SeededRandom, violations: string[]) {
    this.#api = api;
    this.#random = random;
    this.#violations = violations;
    this.#following = this.#follow();
  }

  get facts(): Readonly<Record<string, number>> {
    return { streams: this.#streams, events: this.#received.size };
  }

  /** Resolves when it has received the event with this number, or after `ms`. */
  async until(seq: number, ms: number): Promise<void> {
    const deadline = performance.now() + ms;
    while (this.#last < seq && performance.now() < deadline) await pause(50);
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.#following;
  }

  /** Every state change after the first event was received, once and in order. */
  check(rows: readonly LedgerRow[]): void {
    const first = this.#first ?? Infinity;
    const missing = rows.filter(
      ({ seq, kind }) => kind === 'call.state' && seq > first && !this.#received.has(seq),
    );
    if (missing.length > 0)
      this.#violations.push(
        `${missing.length} events were not received, the first is ${missing[0]?.seq} (${missing[0]?.callId}); the last one received is ${this.#last}`,
      );
  }

  async #follow(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const enough = AbortSignal.timeout(this.#random.between(500, 5000));
      try {
        await this.#stream(AbortSignal.any([this.#stop.signal, enough]));
      } catch {
        await pause(50);
      }
    }
  }

  async #stream(signal: AbortSignal): Promise<void> {
    const decode = sseDecoder();
    const text = new TextDecoder();
    const headers: Record<string, string> = this.#first === null ? {} : { 'last-event-id': `${this.#last}` };
    const response = await this.#api.open('/v1/events', signal, headers);
    if (response.status !== 200) {
      await response.body?.cancel();
      return await pause(50);
    }
    this.#streams += 1;
    for await (const chunk of response.body ?? []) {
      for (const { id, event, data } of decode(text.decode(chunk as Uint8Array, { stream: true }))) {
        if (id !== null) this.#take(Number(id), data === null ? null : event);
      }
    }
  }

  /** `event` is null for the position at which a stream begins. */
  #take(seq: number, event: string | null): void {
    if (this.#first === null) {
      this.#first = seq;
      this.#last = seq;
    }
    if (event === null) {
      if (seq !== this.#last) this.#violations.push(`a stream after event ${this.#last} began at ${seq}`);
      return;
    }
    if (seq <= this.#last) this.#violations.push(`event ${seq} was received after ${this.#last}`);
    this.#last = seq;
    if (event === 'call.state') this.#received.add(seq);
  }
}
