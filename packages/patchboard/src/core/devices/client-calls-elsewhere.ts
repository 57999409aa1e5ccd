import type { Call } from '../call/call.ts';
import type { Lifecycle } from '../call/lifecycle.ts';
import type { Peers, WaitingCall } from '../peers.ts';
import type { Store } from '../ports.ts';
import type { Tasks } from '../tasks.ts';
import { isForAnyProgram, isUnacknowledged, type ClientQueues } from './client-queues.ts';
import type { DeviceProvider } from './device-provider.ts';

export interface ClientCallsElsewhereParts {
  readonly store: Store;
  readonly peers: Peers;
  readonly lifecycle: Lifecycle;
  readonly tasks: Tasks;
  readonly clientQueues: ClientQueues;
  readonly provider: DeviceProvider;
}

/**
 * Takes the calls that other nodes hold for clients which this node can reach. Of several nodes that take a call at once,
 * one compare-and-set succeeds.
 */
export class ClientCallsElsewhere {
  readonly #parts: ClientCallsElsewhereParts;

  constructor(parts: ClientCallsElsewhereParts) {
    this.#parts = parts;
    parts.peers.onWakeClient((offered) => this.#takeWaiting(offered));
  }

  /** The client has connected, or a device of it offers more tools: takes its calls in the background. */
  attached(tenant: string, clientId: string): void {
    if (this.#parts.peers.isSingle) return;
    this.#parts.tasks.start('client calls', () => this.#takeAll(tenant, clientId, false));
  }

  /** The client polls: makes all its unacknowledged calls those of this node, so that it gets them. */
  async collect(tenant: string, clientId: string): Promise<void> {
    if (this.#parts.peers.isSingle) return;
    const { clientQueues, lifecycle } = this.#parts;
    await clientQueues.claimOffered(tenant, clientId);
    const open = await this.#takeAll(tenant, clientId, true);
    // Another node may have ended them.
    for (const { call } of clientQueues.waiting(tenant, clientId))
      if (!open.has(call.id)) await lifecycle.refresh(call.id, Infinity);
  }

  /** Returns the ids of the open calls of the client. */
  async #takeAll(tenant: string, clientId: string, isPolled: boolean): Promise<ReadonlySet<string>> {
    const open = new Set<string>();
    for await (const call of this.#parts.store.openCalls({ tenant, clientId })) {
      open.add(call.id);
      await this.#take(call, isPolled);
    }
    return open;
  }

  #takeWaiting({ id, version }: WaitingCall): void {
    const { store, tasks } = this.#parts;
    tasks.start('client call', async () => {
      const call = await store.findCall(id);
      // Otherwise another node has taken it, and may have delivered it.
      if (call?.version === version) await this.#take(call, false);
    });
  }

  async #take(call: Call, isPolled: boolean): Promise<void> {
    const { lifecycle, provider, clientQueues } = this.#parts;
    await lifecycle.forgetOlder(call);
    if (call.clientId === null || !isUnacknowledged({ call })) return;
    if (lifecycle.find(call.id) !== undefined) return;
    const live = lifecycle.reach(call);
    if (live === undefined) return;
    if (provider.canSend(call)) await provider.take(live);
    else if (isForAnyProgram(call) && (isPolled || clientQueues.isOnline(call.tenant, call.clientId))) {
      if (await lifecycle.claim(live)) clientQueues.put(live, isPolled);
    }
  }
}
