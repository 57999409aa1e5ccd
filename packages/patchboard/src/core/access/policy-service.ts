import { reason } from '@patchboard/wire';
import type { DocumentStore } from '../documents.ts';
import { failure, problemOf, type Failure } from '../failures.ts';
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
 * The policy documents and their history. Every tenant starts with the policy of the config file; once an operator of a
 * tenant changes it at run time, the changed policy replaces it for that tenant.
 */
export class PolicyService {
  readonly #store: DocumentStore;
  readonly #guard: PolicyGuard;
  readonly #clock: Clock;
  readonly #initial: PolicyText;
  readonly #tenants: Map<string, PolicyText> = new Map();
  /** Serialises changes: each one compares its version with the result of the one before. */
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

  /** Returns one version, 0 being the policy of the config file; undefined if there is no such version. */
  async version(tenant: string, version: number): Promise<PolicyText | undefined> {
    const current = this.current(tenant);
    if (version === current.version) return current;
    if (version === 0) return this.#initial;
    const body = await this.#store.document('policy', documentId(tenant, version));
    return body === undefined ? undefined : textOf(version, body);
  }

  /** Returns the versions up to `newest`, newest first, at most `limit`. They are numbered without gaps. */
  async versions(tenant: string, newest: number, limit: number): Promise<readonly PolicyText[]> {
    const found: PolicyText[] = [];
    const from = Math.min(newest, this.current(tenant).version);
    for (let version = from; version >= 0 && found.length < limit; version -= 1) {
      const text = await this.version(tenant, version);
      if (text !== undefined) found.push(text);
    }
    return found;
  }

  /** Returns the problems found. Fails closed: a policy that cannot be decoded denies every call of its tenant. */
  async load(): Promise<readonly string[]> {
    const problems = [this.#enforce(null, this.#initial)];
    // Documents come in order of their ids, so the newest of each tenant is the last one seen.
    for (const kept of await this.#store.documents('policy')) {
      const { tenant, version } = placeOf(kept.id);
      this.#tenants.set(tenant, textOf(version, kept.body));
    }
    for (const [tenant, text] of this.#tenants) problems.push(this.#enforce(tenant, text));
    return problems.filter((problem) => problem !== null);
  }

  /** Puts a version in force that another node has stored, if it is newer. Returns the problem if it is unreadable. */
  apply(id: string, body: string): string | null {
    const { tenant, version } = placeOf(id);
    if (version <= this.current(tenant).version) return null;
    const text = textOf(version, body);
    this.#tenants.set(tenant, text);
    return this.#enforce(tenant, text);
  }

  #enforce(tenant: string | null, { version, document }: PolicyText): string | null {
    const decoded = decodePolicy(document);
    this.#guard.replacePolicy(tenant, { version, document: decoded.ok ? decoded.policy : null });
    if (decoded.ok) return null;
    const places = decoded.problems.map(({ path, message }) => `policy${path} ${message}`);
    return `${tenant === null ? '' : `tenant ${tenant}: `}${places.join('; ')}`;
  }

  /** Compare-and-set: fails with `conflict` if the version in force is not `expectedVersion`; null replaces any. */
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
    for (;;) {
      const replaced = await this.#tryReplace(principal, document, expectedVersion);
      if (replaced !== null) return replaced;
      await this.#catchUp(tenant);
    }
  }

  /** Returns null if another node stored the next version first. */
  async #tryReplace(
    principal: Principal,
    document: unknown,
    expectedVersion: number | null,
  ): Promise<PolicyText | Failure | null> {
    const { tenant } = principal;
    const { version } = this.current(tenant);
    if (expectedVersion !== null && expectedVersion !== version) {
      const why = reason('policy_version_differs', { version, expected: expectedVersion });
      return failure('conflict', why);
    }
    const decoded = decodeSentPolicy(document);
    if (!decoded.ok) {
      const [first] = decoded.problems;
      const why =
        first === undefined
          ? reason('policy_unreadable')
          : reason('request_issue', { place: `policy${first.path}`, problem: problemOf(first) });
      return failure('body_invalid', why, { issues: decoded.problems });
    }
    const changedAt = this.#clock.now();
    const next: PolicyText = { version: version + 1, document, changedAt, changedBy: principal.id };
    const row = plainRow('policy.changed', tenant, changedAt, {
      version: next.version,
      by: principal.id,
    });
    const id = documentId(tenant, next.version);
    if (!(await this.#store.addDocument('policy', id, JSON.stringify(next), [row]))) return null;
    // Another node may have stored a newer one meanwhile, which is in force here by now.
    if (next.version > this.current(tenant).version) {
      this.#tenants.set(tenant, next);
      this.#guard.replacePolicy(tenant, { version: next.version, document: decoded.policy });
    }
    return next;
  }

  /** Puts the newest version in force that another node has stored. */
  async #catchUp(tenant: string): Promise<void> {
    for (;;) {
      const version = this.current(tenant).version + 1;
      const id = documentId(tenant, version);
      const body = await this.#store.document('policy', id);
      if (body === undefined) return;
      this.apply(id, body);
    }
  }
}

/** Tenant ids contain no spaces. */
function documentId(tenant: string, version: number): string {
  return `${tenant} ${String(version).padStart(VERSION_DIGITS, '0')}`;
}

function placeOf(id: string): { readonly tenant: string; readonly version: number } {
  const cut = id.lastIndexOf(' ');
  return { tenant: id.slice(0, cut), version: Number(id.slice(cut + 1)) };
}

/** An unreadable policy keeps its version number, so that the next version is higher, and has a null document. */
function textOf(version: number, body: string): PolicyText {
  try {
    const { document = null, changedAt, changedBy } = JSON.parse(body) as Partial<PolicyText>;
    if (typeof changedBy === 'string')
      return { version, document, changedAt: typeof changedAt === 'number' ? changedAt : null, changedBy };
  } catch {
    // Falls through to the unreadable policy.
  }
  return { version, document: null, changedAt: null, changedBy: 'unknown' };
}
