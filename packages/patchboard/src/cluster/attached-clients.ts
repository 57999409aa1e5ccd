import { pairKey } from '../core/pair-key.ts';
import type { WaitingCall } from '../core/peers.ts';
import type { ClientName, NodeTable } from './node-table.ts';

export type Wake = (call: WaitingCall) => void;

interface Attached extends ClientName {
  connections: number;
}

/** The clients with connections to this node, and the calls that wait for them at other nodes. */
export class AttachedClients {
  readonly #table: NodeTable;
  readonly #attached: Map<string, Attached> = new Map();
  #wake: Wake = () => {};

  constructor(table: NodeTable) {
    this.#table = table;
  }

  onWake(wake: Wake): void {
    this.#wake = wake;
  }

  /** The returned function ends the connection. */
  add(tenant: string, clientId: string): () => void {
    const key = pairKey(tenant, clientId);
    const client = this.#attached.get(key) ?? { tenant, clientId, connections: 0 };
    this.#attached.set(key, client);
    client.connections += 1;
    let isEnded = false;
    return () => {
      if (isEnded) return;
      isEnded = true;
      client.connections -= 1;
      if (client.connections === 0) this.#attached.delete(key);
    };
  }

  /** Another node cannot deliver the call. */
  notified(call: WaitingCall): void {
    if (this.#attached.has(pairKey(call.tenant, call.clientId))) this.#wake(call);
  }

  /** Looks for calls that other nodes hold for the clients. */
  async poll(): Promise<void> {
    const waiting = await this.#table.waitingFor([...this.#attached.values()]);
    for (const call of waiting) this.notified(call);
  }
}
