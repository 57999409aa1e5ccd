import { isPinned, type LiveCall } from '../call/live-call.ts';
import type { Peers } from '../peers.ts';
import type { Clock } from '../ports.ts';
import type { TimerWheel } from '../timer-wheel.ts';
import type { SlotWait } from './slots.ts';

export interface SlotOffersParts {
  readonly peers: Peers;
  readonly clock: Clock;
  readonly wheel: TimerWheel;
  /** Whether a free slot of that name at another node would let the call run. */
  readonly isShared: (slotName: string) => boolean;
}

/** How long a call waits for a slot of this node before others may take it. */
const OFFER_AFTER_MS = 100;

/** Offers calls that wait for a slot of this node to the other nodes. */
export class SlotOffers {
  readonly #parts: SlotOffersParts;
  /** The calls that wait and are not offered, in the order in which they began to wait. */
  readonly #waiting: Map<LiveCall, { readonly wait: SlotWait; readonly since: number }> = new Map();
  #isArmed = false;

  constructor(parts: SlotOffersParts) {
    this.#parts = parts;
  }

  /** The call waits. The returned function ends that. */
  add(live: LiveCall, wait: SlotWait): () => void {
    if (this.#parts.peers.isSingle || !isMovable(live)) return () => wait.leave();
    this.#waiting.set(live, { wait, since: this.#parts.clock.elapsed() });
    this.#arm();
    return () => {
      this.#waiting.delete(live);
      wait.leave();
    };
  }

  /** The call has its slot. */
  remove(live: LiveCall): void {
    this.#waiting.delete(live);
  }

  /** This node begins no call any more: offers all that wait. */
  offerAll(): void {
    const waiting = [...this.#waiting.keys()];
    this.#waiting.clear();
    if (waiting.length > 0) this.#parts.peers.offer(waiting.map(({ call }) => call));
  }

  #arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    this.#parts.wheel.after(OFFER_AFTER_MS, () => {
      this.#isArmed = false;
      this.#offer();
      if (this.#waiting.size > 0) this.#arm();
    });
  }

  #offer(): void {
    const { peers, clock, isShared } = this.#parts;
    const before = clock.elapsed() - OFFER_AFTER_MS;
    const offered: LiveCall[] = [];
    for (const [live, { wait, since }] of this.#waiting) {
      if (since > before) break;
      if (isShared(wait.waitsOn())) offered.push(live);
    }
    for (const live of offered) this.#waiting.delete(live);
    if (offered.length > 0) peers.offer(offered.map(({ call }) => call));
  }
}

/** False: the call needs an agent, or files, of this process. */
function isMovable({ call, caller }: LiveCall): boolean {
  return call.sandbox === null && !isPinned(caller);
}
