import type { DocumentStore } from './documents.ts';
import { failure, type Failure } from './failures.ts';
import { plainRow } from './ledger.ts';
import type { PolicyGuard } from './policy-guard.ts';
import { decodePolicy } from './policy/document.ts';
import type { Clock } from './ports.ts';
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
 * The policy document and its history. The config file gives the first one; what operators change at run time
 * stands above it from then on.
 */
export class PolicyOffice {
  readonly #store: DocumentStore;
  readonly #guard: PolicyGuard;
  readonly #clock: Clock;
  #current: PolicyText;
  /** One change at a time: the next one looks at what this one left. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: { store: DocumentStore; guard: PolicyGuard; clock: Clock; initial: unknown }) {
    this.#store = parts.store;
    this.#guard = parts.guard;
    this.#clock = parts.clock;
    this.#current = { version: 0, document: parts.initial, changedAt: null, changedBy: 'config' };
  }

  get current(): PolicyText {
    return this.#current;
  }

  /** Fails closed: a stored policy that cannot be read leaves the guard denying everything. Answers what is wrong. */
  async load(): Promise<string | null> {
    const newest = (await this.#store.documents('policy')).at(-1);
    if (newest !== undefined) this.#current = textOf(newest);
    const decoded = decodePolicy(this.#current.document);
    this.#guard.replacePolicy({
      version: this.#current.version,
      document: decoded.ok ? decoded.policy : null,
    });
    if (decoded.ok) return null;
    return decoded.problems.map(({ path, message }) => `policy${path} ${message}`).join('; ');
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
    const { version } = this.#current;
    if (expectedVersion !== null && expectedVersion !== version) {
      return failure(
        'conflict',
        `the policy in force is version ${version}, not ${expectedVersion}; look at it again`,
      );
    }
    const decoded = decodePolicy(document);
    if (!decoded.ok) {
      const [first] = decoded.problems;
      const detail = first === undefined ? 'the policy is not valid' : `policy${first.path} ${first.message}`;
      return failure('body_invalid', detail, { issues: decoded.problems });
    }
    const changedAt = this.#clock.now();
    const next: PolicyText = { version: version + 1, document, changedAt, changedBy: principal.id };
    const row = plainRow('policy.changed', principal.tenant, changedAt, {
      version: next.version,
      by: principal.id,
    });
    const id = String(next.version).padStart(VERSION_DIGITS, '0');
    await this.#store.putDocument('policy', id, JSON.stringify(next), [row]);
    this.#current = next;
    this.#guard.replacePolicy({ version: next.version, document: decoded.policy });
    return next;
  }
}

/** What cannot be read is a policy that says nothing, under the version it was kept as: the next one comes after it. */
function textOf({ id, body }: { readonly id: string; readonly body: string }): PolicyText {
  const version = Number(id);
  try {
    const { document = null, changedAt, changedBy } = JSON.parse(body) as Partial<PolicyText>;
    if (typeof changedBy === 'string')
      return { version, document, changedAt: typeof changedAt === 'number' ? changedAt : null, changedBy };
  } catch {
    // As below.
  }
  return { version, document: null, changedAt: null, changedBy: 'unknown' };
}
