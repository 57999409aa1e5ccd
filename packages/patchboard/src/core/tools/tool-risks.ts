import type { ToolAnnotations, ToolSpec } from '@patchboard/wire';
import type { DocumentChange, DocumentStore } from '../documents.ts';

/** Annotations that stay with a name when a tool is registered again without them. */
export type Risk = Pick<ToolAnnotations, 'destructive' | 'requires_approval'>;

export const NO_RISK: Risk = {};
const EVERY_RISK: Risk = { destructive: true, requires_approval: true };

/** Every risk that each name was ever registered with, per tenant. Only an operator can reset it. */
export class ToolRisks {
  readonly #tenants: Map<string, Map<string, Risk>> = new Map();

  /** Fails closed: an unreadable record counts as every risk. */
  async load(store: DocumentStore): Promise<void> {
    for (const { id, body } of await store.documents('risk')) this.apply(id, body);
  }

  /** Applies a stored record; null: it was deleted. */
  apply(id: string, body: string | null): void {
    const cut = id.lastIndexOf(' ');
    this.set(id.slice(0, cut), id.slice(cut + 1), body === null ? NO_RISK : read(body));
  }

  of(tenant: string, name: string): Risk {
    return this.#tenants.get(tenant)?.get(name) ?? NO_RISK;
  }

  has(tenant: string, name: string): boolean {
    return this.#tenants.get(tenant)?.has(name) ?? false;
  }

  /** The number of risky names of the tenant. */
  count(tenant: string): number {
    return this.#tenants.get(tenant)?.size ?? 0;
  }

  set(tenant: string, name: string, risk: Risk): void {
    const names = this.#tenants.get(tenant) ?? new Map<string, Risk>();
    if (isRisky(risk)) names.set(name, risk);
    else names.delete(name);
    if (names.size === 0) this.#tenants.delete(tenant);
    else this.#tenants.set(tenant, names);
  }
}

export function riskOf({ destructive, requires_approval: approval }: ToolAnnotations = {}): Risk {
  return {
    ...(destructive === true ? { destructive } : {}),
    ...(approval === true ? { requires_approval: approval } : {}),
  };
}

export function isRisky(risk: Risk): boolean {
  return Object.keys(risk).length > 0;
}

/** Whether `risk` includes every member of `other`. */
export function covers(risk: Risk, other: Risk): boolean {
  return Object.keys(other).every((key) => Object.hasOwn(risk, key));
}

/** Returns the spec with this risk added; the same object if it has the risk already. */
export function raised(spec: ToolSpec, risk: Risk): ToolSpec {
  if (covers(riskOf(spec.annotations), risk)) return spec;
  return { ...spec, annotations: { ...spec.annotations, ...risk } };
}

/** The document that stores a risk; its body is null, which deletes it, if there is none. */
export function riskDocument(tenant: string, name: string, risk: Risk): DocumentChange {
  // Tenant ids and tool names contain no spaces.
  return { kind: 'risk', id: `${tenant} ${name}`, body: isRisky(risk) ? JSON.stringify(risk) : null };
}

function read(body: string): Risk {
  try {
    const risk = riskOf(JSON.parse(body) as ToolAnnotations);
    return isRisky(risk) ? risk : EVERY_RISK;
  } catch {
    return EVERY_RISK;
  }
}
