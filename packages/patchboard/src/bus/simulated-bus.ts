import type { Bus } from '../cluster/bus.ts';
import { encodeNotification } from '../cluster/notification.ts';
import type { Clock, Log } from '../core/ports.ts';
import { NotificationReceiver } from './notification-receiver.ts';

/** What happens to notifications on their way. Probabilities are from 0 to 1. */
export interface NetworkFaults {
  readonly drop: number;
  /** Probability that a notification arrives twice. */
  readonly double: number;
  /** Each delivery takes a time between these, so that notifications overtake each other. */
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
}

export interface NetworkParts {
  readonly clock: Clock;
  /** At least 0, below 1. */
  readonly random: () => number;
}

const NO_FAULTS: NetworkFaults = { drop: 0, double: 0, minDelayMs: 1, maxDelayMs: 1 };

interface Member {
  readonly receiver: NotificationReceiver;
  /** Texts that arrived while the node was paused; null while it runs. */
  paused: string[] | null;
}

/** The buses of the nodes of one store, without a server, for simulations. The same clock and random source give the same run. */
export class SimulatedNetwork {
  readonly #parts: NetworkParts;
  readonly #members: Map<number, Member> = new Map();
  /** Pairs of writers between which nothing passes, as `pairOf` names them. */
  readonly #cut: Set<string> = new Set();
  #faults: NetworkFaults = NO_FAULTS;
  #isDown = false;
  #starts = 1;

  constructor(parts: NetworkParts) {
    this.#parts = parts;
  }

  /** Changes what happens to notifications that are sent from now on. */
  setFaults(faults: Partial<NetworkFaults>): void {
    this.#faults = { ...NO_FAULTS, ...faults };
  }

  /** Cuts the connection between two nodes in both directions; what is on its way is lost too. */
  cut(a: number, b: number): void {
    this.#cut.add(pairOf(a, b));
  }

  /** Ends `cut` of these two nodes, or of all. */
  heal(a?: number, b?: number): void {
    if (a === undefined || b === undefined) this.#cut.clear();
    else this.#cut.delete(pairOf(a, b));
  }

  /** As if the server of the bus had stopped: no node is connected, and nothing is delivered. */
  stop(): void {
    this.#isDown = true;
  }

  start(): void {
    if (this.#isDown) this.#starts += 1;
    this.#isDown = false;
  }

  /** Holds back what arrives at the node, as for a stopped process, until `resume`. */
  pause(writer: number): void {
    const member = this.#members.get(writer);
    if (member !== undefined) member.paused ??= [];
  }

  resume(writer: number): void {
    const member = this.#members.get(writer);
    const held = member?.paused ?? [];
    if (member !== undefined) member.paused = null;
    for (const text of held) member?.receiver.receive(text);
  }

  /** The bus of a node. A writer that joins again, as after a restart, replaces the earlier one. */
  join(writer: number, log: Log): Bus {
    const member: Member = { receiver: new NotificationReceiver(writer, log), paused: null };
    this.#members.set(writer, member);
    const isMember = (): boolean => this.#members.get(writer) === member;
    const isConnected = (): boolean => isMember() && !this.#isDown;
    const starts = (): number => this.#starts;
    return {
      send: (to, notification) => {
        if (!isMember()) return;
        for (const text of encodeNotification(writer, notification)) this.sendText(writer, to, text);
      },
      listen: (handle) => member.receiver.listen(handle),
      get isConnected() {
        return isConnected();
      },
      get connections() {
        return starts();
      },
      close: async () => {
        if (isMember()) this.#members.delete(writer);
      },
    };
  }

  /** Sends any text, also one that is no notification. */
  sendText(from: number, to: number | 'all', text: string): void {
    if (this.#isDown) return;
    const receivers = to === 'all' ? [...this.#members.keys()].filter((writer) => writer !== from) : [to];
    for (const receiver of receivers.filter((other) => !this.#cut.has(pairOf(from, other)))) {
      const { drop, double } = this.#faults;
      if (this.#parts.random() < drop) continue;
      this.#deliver(from, receiver, text);
      if (this.#parts.random() < double) this.#deliver(from, receiver, text);
    }
  }

  #deliver(from: number, to: number, text: string): void {
    const { minDelayMs, maxDelayMs } = this.#faults;
    const delayMs = minDelayMs + this.#parts.random() * (maxDelayMs - minDelayMs);
    const receiver = this.#members.get(to);
    this.#parts.clock.after(delayMs, () => {
      // Also at its arrival: a notification is lost if the connection is cut meanwhile, or the process replaced.
      if (receiver === undefined || this.#members.get(to) !== receiver) return;
      if (this.#isDown || this.#cut.has(pairOf(from, to))) return;
      if (receiver.paused === null) receiver.receiver.receive(text);
      else receiver.paused.push(text);
    });
  }
}

function pairOf(a: number, b: number): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`;
}
