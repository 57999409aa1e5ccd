import type { Call } from '../call/call.ts';
import type { LiveCall } from '../call/live-call.ts';
import { pairKey } from '../pair-key.ts';

/** One connection of a client: a stream, a long poll or a socket. */
export interface ClientConnection {
  /** To be run, as the record stands. */
  deliver(call: Call): void;
  /** The call ended otherwise: the client should stop working on it. */
  withdraw(callId: string, reason: string): void;
}

interface ClientQueue {
  /** Calls for this client that have not ended, oldest first. */
  readonly open: Map<string, LiveCall>;
  /** The newest last; requests go to the newest. */
  readonly connections: Set<ClientConnection>;
}

/** Of arguments in one answer; the last request may go beyond. */
const ANSWER_CHARACTERS = 8 * 1024 * 1024;

/** What waits for each client, and the connections that carry it there. */
export class ClientQueues {
  readonly #boxes: Map<string, ClientQueue> = new Map();
  readonly #mayRun: (call: Call) => boolean;

  /** `mayRun`: asked of each call before it is handed out. */
  constructor(mayRun: (call: Call) => boolean) {
    this.#mayRun = mayRun;
  }

  /**
   * Sends what is unanswered at once, then whatever comes; the answer detaches. What it carried goes to the client's
   * next connection, unless it was `handedOver`: then sending it again could run it twice.
   */
  attach(tenant: string, clientId: string, connection: ClientConnection): (handedOver?: boolean) => void {
    const box = this.#box(tenant, clientId);
    box.connections.add(connection);
    this.#deliverOpen(box, connection);
    return (handedOver = false) => {
      box.connections.delete(connection);
      const heir = [...box.connections].at(-1);
      if (heir !== undefined && !handedOver) this.#deliverOpen(box, heir);
      this.#sweep(tenant, clientId, box);
    };
  }

  isOnline(tenant: string, clientId: string): boolean {
    return this.connectionsOf(tenant, clientId) > 0;
  }

  connectionsOf(tenant: string, clientId: string): number {
    return this.#boxes.get(pairKey(tenant, clientId))?.connections.size ?? 0;
  }

  put(live: LiveCall): void {
    const { clientId } = live.call;
    if (clientId === null) throw new Error(`call ${live.call.id} is not a client's`);
    const box = this.#box(live.call.tenant, clientId);
    box.open.set(live.call.id, live);
    const connection = [...box.connections].at(-1);
    if (connection !== undefined && this.#mayRun(live.call)) this.#deliver(connection, live);
  }

  /** The call ended. Harmless if it was never put in. */
  take(live: LiveCall, reason: string | null): void {
    const { tenant, clientId, id } = live.call;
    if (clientId === null) return;
    const box = this.#boxes.get(pairKey(tenant, clientId));
    if (box?.open.delete(id) !== true) return;
    if (reason !== null && live.pushed)
      for (const connection of box.connections) connection.withdraw(id, reason);
    this.#sweep(tenant, clientId, box);
  }

  /** Calls of this tool that nobody has begun. */
  waiting(tenant: string, clientId: string, toolName: string): LiveCall[] {
    const box = this.#boxes.get(pairKey(tenant, clientId));
    return [...(box?.open.values() ?? [])].filter(
      (live) => live.call.toolName === toolName && isUnanswered(live),
    );
  }

  /** Requests not yet begun, oldest first, as many as fit into one answer; the others come with the next. */
  unanswered(tenant: string, clientId: string): Call[] {
    const box = this.#boxes.get(pairKey(tenant, clientId));
    const handedOut: Call[] = [];
    let room = ANSWER_CHARACTERS;
    for (const live of box?.open.values() ?? []) {
      if (room <= 0) break;
      if (!this.#isDue(live)) continue;
      live.pushed = true;
      handedOut.push(live.call);
      room -= live.call.argsJson.length;
    }
    return handedOut;
  }

  /** One that was delivered, as it stands by now; undefined: it has begun or ended, or may not run any more. */
  due(tenant: string, clientId: string, callId: string): Call | undefined {
    const live = this.#boxes.get(pairKey(tenant, clientId))?.open.get(callId);
    return live !== undefined && this.#isDue(live) ? live.call : undefined;
  }

  #deliverOpen(box: ClientQueue, connection: ClientConnection): void {
    for (const live of box.open.values()) if (this.#isDue(live)) this.#deliver(connection, live);
  }

  #isDue(live: LiveCall): boolean {
    return isUnanswered(live) && this.#mayRun(live.call);
  }

  #deliver(connection: ClientConnection, live: LiveCall): void {
    live.pushed = true;
    connection.deliver(live.call);
  }

  #box(tenant: string, clientId: string): ClientQueue {
    const name = pairKey(tenant, clientId);
    const box = this.#boxes.get(name) ?? { open: new Map(), connections: new Set() };
    this.#boxes.set(name, box);
    return box;
  }

  #sweep(tenant: string, clientId: string, box: ClientQueue): void {
    const name = pairKey(tenant, clientId);
    // Somebody may have detached twice, and the client have another box by then.
    if (box.open.size === 0 && box.connections.size === 0 && this.#boxes.get(name) === box)
      this.#boxes.delete(name);
  }
}

/** One that was acknowledged has begun, and what has begun is not sent a second time. */
function isUnanswered(live: LiveCall): boolean {
  return live.call.state.name === 'PENDING' || live.call.state.name === 'APPROVED';
}
