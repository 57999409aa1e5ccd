import type { CallState } from '../call/call.ts';
import type { LiveCall } from '../call/live-call.ts';
import type { Reservation } from './provider.ts';
import type { SlotKey } from './slots.ts';

interface SlotHolder {
  releaseSlots(keys: readonly SlotKey[]): void;
  startReserved(live: LiveCall, keys: readonly SlotKey[]): void;
}

/** The slots of a call that is being recorded as EXECUTING. */
export class SlotReservation implements Reservation {
  readonly states: readonly CallState[];
  readonly #holder: SlotHolder;
  readonly #keys: readonly SlotKey[];

  constructor(holder: SlotHolder, keys: readonly SlotKey[], states: readonly CallState[]) {
    this.#holder = holder;
    this.#keys = keys;
    this.states = states;
  }

  start(live: LiveCall): void {
    this.#holder.startReserved(live, this.#keys);
  }

  release(): void {
    this.#holder.releaseSlots(this.#keys);
  }
}
