import type { NewCall } from '../../core/ports.ts';

interface UsedKey {
  readonly callId: string;
  readonly bodyHash: string;
  readonly expiresAt: number;
}

/** The idempotency keys of stored calls, by their scope. */
export class MemoryIdempotencyKeys {
  readonly #keys: Map<string, UsedKey> = new Map();
  readonly #scopeOfCall: Map<string, string> = new Map();

  /** Returns the key if it is in use, and not expired, when this call is created. */
  usedBefore({ call, idempotency }: NewCall): UsedKey | undefined {
    const used = idempotency === null ? undefined : this.#keys.get(idempotency.scope);
    return used !== undefined && used.expiresAt > call.createdAt ? used : undefined;
  }

  add({ call, idempotency }: NewCall): void {
    if (idempotency === null) return;
    const { scope, bodyHash, expiresAt } = idempotency;
    this.#keys.set(scope, { callId: call.id, bodyHash, expiresAt });
    this.#scopeOfCall.set(call.id, scope);
  }

  remove(callId: string): void {
    const scope = this.#scopeOfCall.get(callId);
    if (scope === undefined) return;
    this.#scopeOfCall.delete(callId);
    // An expired key may belong to a later call now.
    if (this.#keys.get(scope)?.callId === callId) this.#keys.delete(scope);
  }
}
