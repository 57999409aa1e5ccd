import { pairKey } from '../pair-key.ts';
import type { Digest } from '../ports.ts';
import { canonicalJson } from '../json/canonical-json.ts';
import { holds, type Predicate } from './policy/predicate.ts';

/** A standing answer: what an operator need not be asked again. It only ever turns an ask into an allow. */
export interface Grant {
  readonly id: string;
  readonly tenant: string;
  readonly toolName: string;
  /** The contract it was given for: a tool that changes asks again. */
  readonly toolVersion: string;
  /** Null: every agent of the tenant. */
  readonly agentId: string | null;
  readonly scope: GrantScope;
  readonly createdAt: number;
  readonly createdBy: string;
  /** Null: until it is revoked. */
  readonly expiresAt: number | null;
}

export type GrantScope =
  | { readonly kind: 'exact'; readonly argsSha256: string }
  | { readonly kind: 'predicate'; readonly when: readonly Predicate[] }
  | { readonly kind: 'tool' };

export interface GrantQuestion {
  readonly tenant: string;
  readonly agentId: string;
  readonly toolName: string;
  readonly toolVersion: string;
  readonly args: unknown;
}

/** Hash of arguments as a grant compares them: member order does not matter. */
export function argsDigest(digest: Digest, args: unknown): string {
  return digest.sha256(canonicalJson(args));
}

/** The grants in force, by tenant and tool. */
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
    const shelf = this.#byTool.get(shelfOf(grant)) ?? new Set<Grant>();
    this.#byTool.set(shelfOf(grant), shelf.add(grant));
  }

  remove(id: string): Grant | undefined {
    const grant = this.#byId.get(id);
    if (grant === undefined) return undefined;
    this.#byId.delete(id);
    const shelf = this.#byTool.get(shelfOf(grant));
    shelf?.delete(grant);
    if (shelf?.size === 0) this.#byTool.delete(shelfOf(grant));
    return grant;
  }

  find(id: string): Grant | undefined {
    return this.#byId.get(id);
  }

  list(tenant: string): Grant[] {
    return [...this.#byId.values()].filter((grant) => grant.tenant === tenant);
  }

  match(question: GrantQuestion, now: number): Grant | undefined {
    const shelf = this.#byTool.get(shelfOf(question));
    if (shelf === undefined) return undefined;
    for (const grant of shelf) if (this.#covers(grant, question, now)) return grant;
    return undefined;
  }

  #covers(grant: Grant, question: GrantQuestion, now: number): boolean {
    if (grant.expiresAt !== null && grant.expiresAt <= now) return false;
    if (grant.toolVersion !== question.toolVersion) return false;
    if (grant.agentId !== null && grant.agentId !== question.agentId) return false;
    switch (grant.scope.kind) {
      case 'tool':
        return true;
      case 'exact':
        return grant.scope.argsSha256 === argsDigest(this.#digest, question.args);
      case 'predicate':
        return grant.scope.when.every((predicate) => holds(predicate, question.args));
    }
  }
}

function shelfOf({ tenant, toolName }: { tenant: string; toolName: string }): string {
  return pairKey(tenant, toolName);
}
