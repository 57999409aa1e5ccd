import { pairKey } from '../pair-key.ts';
import type { Digest } from '../ports.ts';
import { canonicalJson } from '@patchboard/wire/json';
import { holds, type ArgumentCondition } from './policy/argument-condition.ts';

/** A standing approval by an operator. It turns an `ask` into an `allow`, and never overrides a `deny`. */
export interface Grant {
  readonly id: string;
  readonly tenant: string;
  readonly toolName: string;
  /** The contract hash the grant is for. A tool with another contract needs approval again. */
  readonly toolVersion: string;
  /** Null: the grant is for every agent of the tenant. */
  readonly agentId: string | null;
  readonly scope: GrantScope;
  readonly createdAt: number;
  readonly createdBy: string;
  /** Null: until it is revoked. */
  readonly expiresAt: number | null;
}

export type GrantScope =
  | { readonly kind: 'exact'; readonly argsSha256: string }
  | { readonly kind: 'predicate'; readonly when: readonly ArgumentCondition[] }
  | { readonly kind: 'tool' };

export interface GrantQuery {
  readonly tenant: string;
  readonly agentId: string;
  readonly toolName: string;
  readonly toolVersion: string;
  readonly args: unknown;
}

const GRANT_RULE = 'grant:';

/** The `rule` of a decision that a grant made. */
export function grantRule(id: string): string {
  return `${GRANT_RULE}${id}`;
}

export function isGrantRule(rule: string): boolean {
  return rule.startsWith(GRANT_RULE);
}

/** Hash of the arguments, independent of member order. */
export function argsDigest(digest: Digest, args: unknown): string {
  return digest.sha256(canonicalJson(args));
}

/** The grants in force, indexed by id and by tenant and tool. */
export class GrantIndex {
  readonly #digest: Digest;
  readonly #byId: Map<string, Grant> = new Map();
  readonly #byTool: Map<string, Set<Grant>> = new Map();

  constructor(digest: Digest) {
    this.#digest = digest;
  }

  add(grant: Grant): void {
    this.remove(grant.id);
    this.#byId.set(grant.id, grant);
    const grants = this.#byTool.get(toolKey(grant)) ?? new Set<Grant>();
    this.#byTool.set(toolKey(grant), grants.add(grant));
  }

  remove(id: string): Grant | undefined {
    const grant = this.#byId.get(id);
    if (grant === undefined) return undefined;
    this.#byId.delete(id);
    const grants = this.#byTool.get(toolKey(grant));
    grants?.delete(grant);
    if (grants?.size === 0) this.#byTool.delete(toolKey(grant));
    return grant;
  }

  find(id: string): Grant | undefined {
    return this.#byId.get(id);
  }

  list(tenant: string): Grant[] {
    return [...this.#byId.values()].filter((grant) => grant.tenant === tenant);
  }

  match(query: GrantQuery, now: number): Grant | undefined {
    const grants = this.#byTool.get(toolKey(query));
    if (grants === undefined) return undefined;
    for (const grant of grants) if (this.#covers(grant, query, now)) return grant;
    return undefined;
  }

  #covers(grant: Grant, query: GrantQuery, now: number): boolean {
    if (grant.expiresAt !== null && grant.expiresAt <= now) return false;
    if (grant.toolVersion !== query.toolVersion) return false;
    if (grant.agentId !== null && grant.agentId !== query.agentId) return false;
    switch (grant.scope.kind) {
      case 'tool':
        return true;
      case 'exact':
        return grant.scope.argsSha256 === argsDigest(this.#digest, query.args);
      case 'predicate':
        return grant.scope.when.every((condition) => holds(condition, query.args));
    }
  }
}

function toolKey({ tenant, toolName }: { tenant: string; toolName: string }): string {
  return pairKey(tenant, toolName);
}
