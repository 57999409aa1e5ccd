import type { Call } from '../call/call.ts';
import type { LiveCall } from '../call/live-call.ts';
import { pairKey } from '../pair-key.ts';
import type { Peers } from '../peers.ts';
import type { Tasks } from '../tasks.ts';

/** One connection of a client: a stream, a long poll or a socket. */
export interface ClientConnection {
  /** Sends the call to the client, which runs it. */
  deliver(call: Call): void;
  /** Tells the client to stop working on the call, which ended without it. */
  withdraw(callId: string, reason: string): void;
}

interface ClientQueue {
  /** Calls for this client that have not ended, oldest first. */
  readonly open: Map<string, LiveCall>;
  /** In order of connection. Calls are sent to the newest. */
  readonly connections: Set<ClientConnection>;
}

/** Bounds the argument text of one response. The last call of a response may exceed it. */
const RESPONSE_CHARACTERS = 8 * 1024 * 1024;

export interface ClientQueuesParts {
  readonly peers: Peers;
  /** Checked for each call before it is delivered. */
  readonly mayRun: (call: Call) => boolean;
  /** See `Lifecycle.claim`. */
  readonly claim: (live: LiveCall) => Promise<boolean>;
  /** Takes calls of the client that other nodes hold. */
  readonly attached: (tenant: string, clientId: string) => void;
  readonly tasks: Tasks;
}

/** Per client: the queue of its open calls, and its connections. */
export class ClientQueues {
  readonly #parts: ClientQueuesParts;
  readonly #queues: Map<string, ClientQueue> = new Map();
  /** Calls that no connection here can deliver: another node may take them. */
  readonly #offered: Set<LiveCall> = new Set();
  /** Calls that a connection did not get, because their tool is not registered as it was approved. */
  readonly #withoutTool: Set<LiveCall> = new Set();

  constructor(parts: ClientQueuesParts) {
    this.#parts = parts;
  }

  /**
   * Delivers unacknowledged calls at once, then new ones as they come. Returns a function that detaches the connection:
   * its unacknowledged calls are delivered to the client's newest other connection, unless `handedOver` is true, because
   * then the client has them and a second delivery could run them twice.
   */
  attach(tenant: string, clientId: string, connection: ClientConnection): (handedOver?: boolean) => void {
    const queue = this.#queue(tenant, clientId);
    queue.connections.add(connection);
    const left = this.#parts.peers.clientAttached(tenant, clientId);
    this.#deliverOpen(queue, connection);
    if (!this.#parts.peers.isSingle) this.#parts.attached(tenant, clientId);
    return (handedOver = false) => {
      if (queue.connections.delete(connection)) left();
      const next = [...queue.connections].at(-1);
      if (next !== undefined && !handedOver) this.#deliverOpen(queue, next);
      else if (next === undefined && !handedOver) this.#offerOpen(queue);
      this.#removeIfEmpty(tenant, clientId, queue);
    };
  }

  isOnline(tenant: string, clientId: string): boolean {
    return this.connectionsOf(tenant, clientId) > 0;
  }

  connectionsOf(tenant: string, clientId: string): number {
    return this.#queues.get(pairKey(tenant, clientId))?.connections.size ?? 0;
  }

  /** `isPolled`: the client gets the call as the response to its poll. */
  put(live: LiveCall, isPolled = false): void {
    const { clientId } = live.call;
    if (clientId === null) throw new Error(`call ${live.call.id} is not a client's`);
    const queue = this.#queue(live.call.tenant, clientId);
    queue.open.set(live.call.id, live);
    const connection = [...queue.connections].at(-1);
    if (isPolled) return;
    if (connection === undefined || !isForAnyProgram(live.call)) this.#offer(live);
    else this.#deliverIfDue(connection, live);
  }

  /** Tools of the tenant were registered: delivers the calls that could not run without them. */
  toolsRegistered(tenant: string): void {
    for (const live of this.#withoutTool) {
      if (live.call.tenant !== tenant || !this.#isDue(live)) continue;
      this.#withoutTool.delete(live);
      this.put(live);
    }
  }

  /** Removes a call that ended. Does nothing if the call is not queued. */
  take(live: LiveCall, reason: string | null): void {
    const { tenant, clientId, id } = live.call;
    if (clientId === null) return;
    const queue = this.#queues.get(pairKey(tenant, clientId));
    this.#withoutTool.delete(live);
    if (queue?.open.delete(id) !== true) return;
    this.#offered.delete(live);
    if (reason !== null && live.pushed)
      for (const connection of queue.connections) connection.withdraw(id, reason);
    this.#removeIfEmpty(tenant, clientId, queue);
  }

  /** Calls that the client has not acknowledged. */
  waiting(tenant: string, clientId: string): LiveCall[] {
    const queue = this.#queues.get(pairKey(tenant, clientId));
    return [...(queue?.open.values() ?? [])].filter(isUnacknowledged);
  }

  /** Unacknowledged calls that a poll gets, oldest first, as many as fit into one response. Marks them as pushed. */
  unacknowledged(tenant: string, clientId: string): Call[] {
    const queue = this.#queues.get(pairKey(tenant, clientId));
    const handedOut: Call[] = [];
    let room = RESPONSE_CHARACTERS;
    for (const live of queue?.open.values() ?? []) {
      if (room <= 0) break;
      if (!this.#isDue(live)) continue;
      this.#pushed(live);
      handedOut.push(live.call);
      room -= live.call.argsJson.length;
    }
    return handedOut;
  }

  /** The current record of a delivered call; undefined if it was acknowledged, has ended or may no longer run. */
  due(tenant: string, clientId: string, callId: string): Call | undefined {
    const live = this.#queues.get(pairKey(tenant, clientId))?.open.get(callId);
    return live !== undefined && this.#isDue(live) ? live.call : undefined;
  }

  /** Before a poll of the client: claims the calls that other nodes may take. */
  async claimOffered(tenant: string, clientId: string): Promise<void> {
    for (const live of this.#queues.get(pairKey(tenant, clientId))?.open.values() ?? [])
      if (isForAnyProgram(live.call) && this.#offered.delete(live)) await this.#parts.claim(live);
  }

  #deliverOpen(queue: ClientQueue, connection: ClientConnection): void {
    for (const live of queue.open.values())
      if (this.#isDue(live) && this.#offered.delete(live)) this.#claim(live);
      else this.#deliverIfDue(connection, live);
  }

  #deliverIfDue(connection: ClientConnection, live: LiveCall): void {
    if (this.#isDue(live)) this.#deliver(connection, live);
    else if (isUnacknowledged(live) && !this.#parts.mayRun(live.call)) this.#withoutTool.add(live);
  }

  /** Another node may take the call at the same time. */
  #claim(live: LiveCall): void {
    this.#parts.tasks.start('claim', async () => {
      if ((await this.#parts.claim(live)) && isUnacknowledged(live)) this.put(live);
    });
  }

  #offerOpen(queue: ClientQueue): void {
    for (const live of queue.open.values()) if (this.#isDue(live)) this.#offer(live);
  }

  #offer(live: LiveCall): void {
    if (this.#parts.peers.isSingle || !isUnacknowledged(live)) return;
    this.#offered.add(live);
    this.#parts.peers.wakeClient(live.call);
  }

  #isDue(live: LiveCall): boolean {
    const { call, ending } = live;
    return isUnacknowledged(live) && ending === 0 && isForAnyProgram(call) && this.#parts.mayRun(call);
  }

  #deliver(connection: ClientConnection, live: LiveCall): void {
    this.#pushed(live);
    connection.deliver(live.call);
  }

  #pushed(live: LiveCall): void {
    live.pushed = true;
    this.#withoutTool.delete(live);
  }

  #queue(tenant: string, clientId: string): ClientQueue {
    const name = pairKey(tenant, clientId);
    const queue = this.#queues.get(name) ?? { open: new Map(), connections: new Set() };
    this.#queues.set(name, queue);
    return queue;
  }

  #removeIfEmpty(tenant: string, clientId: string, queue: ClientQueue): void {
    const name = pairKey(tenant, clientId);
    // A connection may detach twice, and the client may have a new queue by then.
    if (queue.open.size === 0 && queue.connections.size === 0 && this.#queues.get(name) === queue)
      this.#queues.delete(name);
  }
}

/** False: the target of the call is a device, and no other program of the client may run it. */
export function isForAnyProgram({ target, clientId }: Pick<Call, 'target' | 'clientId'>): boolean {
  return target === null || target === clientId;
}

/** An acknowledged call has begun, and is not sent a second time. */
export function isUnacknowledged({ call: { state } }: Pick<LiveCall, 'call'>): boolean {
  return state.name === 'PENDING' || state.name === 'APPROVED';
}
