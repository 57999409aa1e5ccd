import { reason } from '@patchboard/wire';
import type { DocumentStore } from '../documents.ts';
import { failure, type Failure } from '../failures.ts';
import { plainRow } from '../ledger/ledger.ts';
import type { PolicyGuard } from './policy-guard.ts';
import { decodePolicy, decodeSentPolicy } from './policy/document.ts';
import type { Clock } from '../ports.ts';
import type { Principal } from './principal.ts';

/** A policy as an operator wrote it. */
export interface PolicyText {
  readonly version: number;
  readonly document: unknown;
  readonly changedAt: number | null;
  readonly changedBy: string;
}

const VERSION_DIGITS = 12;

/**
 * The policy documents and their history. The config file gives the one that every tenant starts with; what the
 * operators of a tenant change at run time stands above it from then on, for that tenant alone.
 */
export class PolicyService {
  readonly #store: DocumentStore;
  readonly #guard: PolicyGuard;
  readonly #clock: Clock;
  readonly #initial: PolicyText;
  readonly #tenants: Map<string, PolicyText> = new Map();
  /** One change at a time: the next one looks at what this one left. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: { store: DocumentStore; guard: PolicyGuard; clock: Clock; initial: unknown }) {
    this.#store = parts.store;
    this.#guard = parts.guard;
    this.#clock = parts.clock;
    this.#initial = { version: 0, document: parts.initial, changedAt: null, changedBy: 'config' };
  }

  current(tenant: string): PolicyText {
    return this.#tenants.get(tenant) ?? this.#initial;
  }

  /** Fails closed: a policy that cannot be read denies everything to its tenant. Answers what is wrong. */
  async load(): Promise<readonly string[]> {
    const problems = [this.#enforce(null, this.#initial)];
    // In order of their ids, so that the newest of each tenant is the last one seen.
    for (const kept of await this.#store.documents('policy')) {
      const cut = kept.id.lastIndexOf(' ');
      this.#tenants.set(kept.id.slice(0, cut), textOf(Number(kept.id.slice(cut + 1)), kept.body));
    }
    for (const [tenant, text] of this.#tenants) problems.push(this.#enforce(tenant, text));
    return problems.filter((problem) => problem !== null);
  }

  #enforce(tenant: string | null, { version, document }: PolicyText): string | null {
    const decoded = decodePolicy(document);
    this.#guard.replacePolicy(tenant, { version, document: decoded.ok ? decoded.policy : null });
    if (decoded.ok) return null;
    const places = decoded.problems.map(({ path, message }) => `policy${path} ${message}`);
    return `${tenant === null ? '' : `tenant ${tenant}: `}${places.join('; ')}`;
  }

  /** `expectedVersion`: the one the operator looked at; another in force is a conflict, not an overwrite. */
  async replace(
    principal: Principal,
    document: unknown,
    expectedVersion: number | null,
  ): Promise<PolicyText | Failure> {
    const turn = this.#last.then(() => this.#replace(principal, document, expectedVersion));
    this.#last = turn.catch(() => undefined);
    return await turn;
  }

  async #replace(
    principal: Principal,
    document: unknown,
    expectedVersion: number | null,
  ): Promise<PolicyText | Failure> {
    const { tenant } = principal;
    const { version } = this.current(tenant);
    if (expectedVersion !== null && expectedVersion !== version) {
      const why = reason('policy_version_differs', { version, expected: expectedVersion });
      return failure('conflict', why);
    }
    const decoded = decodeSentPolicy(document);
    if (!decoded.ok) {
      const [first] = decoded.problems;
      const detail = first === undefined ? 'the policy is not valid' : `policy${first.path} ${first.message}`;
      return failure('body_invalid', detail, { issues: decoded.problems });
    }
    const changedAt = this.#clock.now();
    const next: PolicyText = { version: version + 1, document, changedAt, changedBy: principal.id };
    const row = plainRow('policy.changed', tenant, changedAt, {
      version: next.version,
      by: principal.id,
    });
    // No tenant's name holds a space.
    const id = `${tenant} ${String(next.version).padStart(VERSION_DIGITS, '0')}`;
    await this.#store.putDocument('policy', id, JSON.stringify(next), [row]);
    this.#tenants.set(tenant, next);
    this.#guard.replacePolicy(tenant, { version: next.version, document: decoded.policy });
    return next;
  }
}

/** What cannot be read is a policy that says nothing, under the version it was kept as: the next one comes after it. */
function textOf(version: number, body: string): PolicyText {
  try {
    const { document = null, changedAt, changedBy } = JSON.parse(body) as Partial<PolicyText>;
    if (typeof changedBy === 'string')
      return { version, document, changedAt: typeof changedAt === 'number' ? changedAt : null, changedBy };
  } catch {
    // As below.
  }
  return { version, document: null, changedAt: null, changedBy: 'unknown' };
}
