import { pairKey } from '../core/pair-key.ts';
import type { ClientName, NodeTable } from './node-table.ts';

export type Wake = (tenant: string, clientId: string, callId: string) => void;

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
  notified(tenant: string, clientId: string, callId: string): void {
    if (this.#attached.has(pairKey(tenant, clientId))) this.#wake(tenant, clientId, callId);
  }

  /** Looks for calls that other nodes hold for the clients. */
  async poll(): Promise<void> {
    const waiting = await this.#table.waitingFor([...this.#attached.values()]);
    for (const { tenant, clientId, id } of waiting) this.notified(tenant, clientId, id);
  }
}
