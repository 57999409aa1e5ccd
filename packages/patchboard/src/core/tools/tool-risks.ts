import type { ToolAnnotations, ToolSpec } from '@patchboard/wire';
import type { DocumentChange, DocumentStore } from '../documents.ts';

/** What a tool may not shed by being registered again. */
export type Risk = Pick<ToolAnnotations, 'destructive' | 'requires_approval'>;

export const NO_RISK: Risk = {};
const EVERY_RISK: Risk = { destructive: true, requires_approval: true };

/** The risk that each name was ever registered with, per tenant. Only an operator makes it less. */
export class ToolRisks {
  readonly #tenants: Map<string, Map<string, Risk>> = new Map();

  /** Fails closed: what cannot be read counts as every risk. */
  async load(store: DocumentStore): Promise<void> {
    for (const { id, body } of await store.documents('risk')) {
      const cut = id.lastIndexOf(' ');
      this.set(id.slice(0, cut), id.slice(cut + 1), read(body));
    }
  }

  of(tenant: string, name: string): Risk {
    return this.#tenants.get(tenant)?.get(name) ?? NO_RISK;
  }

  has(tenant: string, name: string): boolean {
    return this.#tenants.get(tenant)?.has(name) ?? false;
  }

  /** How many names are remembered. */
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

/** Whether `risk` holds all that `other` does. */
export function covers(risk: Risk, other: Risk): boolean {
  return Object.keys(other).every((key) => Object.hasOwn(risk, key));
}

/** The spec with at least this risk; the very same if it has it already. */
export function raised(spec: ToolSpec, risk: Risk): ToolSpec {
  if (covers(riskOf(spec.annotations), risk)) return spec;
  return { ...spec, annotations: { ...spec.annotations, ...risk } };
}

/** How a risk is kept. */
export function riskDocument(tenant: string, name: string, risk: Risk): DocumentChange {
  // Neither a tenant's name nor a tool's holds a space.
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
