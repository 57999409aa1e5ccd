import { reason } from '@patchboard/wire';
import type { DocumentStore } from '../documents.ts';
import { failure, type Failure } from '../failures.ts';
import { argsDigest, type Grant, type GrantIndex, type GrantScope } from './grants.ts';
import { plainRow } from '../ledger/ledger.ts';
import { COMPARISONS_TEXT, type ArgumentCondition } from './policy/argument-condition.ts';
import type { Call } from '../call/call.ts';
import type { Clock, Digest, Ids } from '../ports.ts';
import { PendingRevocations } from './pending-revocations.ts';
import type { Principal } from './principal.ts';

/** "Don't ask again": the grant that an operator requests when approving a call. */
export interface GrantRequest {
  readonly scope: 'exact' | 'predicate' | 'tool';
  readonly when: readonly ArgumentCondition[];
  /** False: the grant is for every agent of the tenant. */
  readonly thisAgentOnly: boolean;
  /** Null: until revoked. */
  readonly lifetimeMs: number | null;
}

export interface GrantServiceParts {
  readonly store: DocumentStore;
  readonly index: GrantIndex;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly digest: Digest;
}

export class GrantService {
  readonly #parts: GrantServiceParts;
  readonly #revocations: PendingRevocations<Grant> = new PendingRevocations();

  constructor(parts: GrantServiceParts) {
    this.#parts = parts;
  }

  async load(): Promise<void> {
    const { store, index } = this.#parts;
    for (const { body } of await store.documents('grant')) index.add(JSON.parse(body) as Grant);
  }

  /** Applies a change of another node. */
  apply(id: string, body: string | null): void {
    const { index } = this.#parts;
    const grant = body === null ? null : (JSON.parse(body) as Grant);
    if (this.#revocations.changed(id, grant)) return;
    if (grant === null) index.remove(id);
    else index.add(grant);
  }

  list(principal: Principal): Grant[] {
    return this.#parts.index.list(principal.tenant);
  }

  /** Refuses scope `predicate` without a comparison, which would allow every call: scope `tool` is for that. */
  check(request: GrantRequest | undefined): Failure | null {
    if (request?.scope !== 'predicate') return null;
    const isEmpty = request.when.length === 0 || request.when.some((one) => Object.keys(one).length < 2);
    if (!isEmpty) return null;
    return failure('body_invalid', reason('grant_without_test', { tests: COMPARISONS_TEXT }));
  }

  /** The grant is bound to the contract hash of the call. */
  async give(principal: Principal, call: Call, request: GrantRequest): Promise<Grant> {
    const { store, index, clock, ids } = this.#parts;
    const now = clock.now();
    const grant: Grant = {
      id: ids.next('gr_'),
      tenant: call.tenant,
      toolName: call.toolName,
      toolVersion: call.toolVersion,
      agentId: request.thisAgentOnly ? call.agentId : null,
      scope: this.#scope(call, request),
      createdAt: now,
      createdBy: principal.id,
      expiresAt: request.lifetimeMs === null ? null : now + request.lifetimeMs,
    };
    const body = {
      grant_id: grant.id,
      tool_name: grant.toolName,
      agent_id: grant.agentId,
      scope: grant.scope.kind,
    };
    const row = plainRow('grant.created', grant.tenant, now, { ...body, by: principal.id });
    await store.putDocument('grant', grant.id, JSON.stringify(grant), [row]);
    if (store.appliesChanges !== true) index.add(grant);
    return grant;
  }

  async revoke(principal: Principal, id: string): Promise<Grant | Failure> {
    const { store, index, clock } = this.#parts;
    const grant = index.find(id);
    if (grant === undefined || grant.tenant !== principal.tenant) {
      return failure('grant_not_found', reason('grant_unknown', { id }));
    }
    const row = plainRow('grant.revoked', grant.tenant, clock.now(), { grant_id: id, by: principal.id });
    await this.#revocations.revoke({
      id,
      item: grant,
      remove: () => index.remove(id),
      restore: (stored) => index.add(stored),
      write: () => store.deleteDocument('grant', id, [row]),
    });
    return grant;
  }

  #scope(call: Call, request: GrantRequest): GrantScope {
    switch (request.scope) {
      case 'tool':
        return { kind: 'tool' };
      case 'predicate':
        return { kind: 'predicate', when: request.when };
      case 'exact':
        return { kind: 'exact', argsSha256: argsDigest(this.#parts.digest, JSON.parse(call.argsJson)) };
    }
  }
}
