import { reason, type ToolAnnotations } from '@patchboard/wire';
import { BoundedMap } from '../bounded-map.ts';
import type { DocumentStore } from '../documents.ts';
import { pairKey } from '../pair-key.ts';
import { rejected, type RegisteredTool, type Rejection } from './registered-tool.ts';
import { isRisky, riskOf, ToolRisks } from './tool-risks.ts';

/** More names than are registered at once. The oldest are evicted; a change of their contract is then not detected. */
const REMEMBERED_CONTRACTS = 100_000;

type RiskyName = { readonly name: string; readonly annotations?: ToolAnnotations };

/**
 * Per tool name: every risk it ever had and its last contract, kept while the tool is not registered. Shared by client
 * tools and tools of this process that come from outside.
 */
export class ToolMemory {
  readonly risks: ToolRisks = new ToolRisks();
  readonly #riskyNamesPerTenant: number;
  /** The last contract hash of each name, also while the name is not registered. */
  readonly #contracts: BoundedMap<string, string> = new BoundedMap(REMEMBERED_CONTRACTS);

  constructor(riskyNamesPerTenant: number) {
    this.#riskyNamesPerTenant = riskyNamesPerTenant;
  }

  async load(store: DocumentStore): Promise<void> {
    await this.risks.load(store);
  }

  /** Stores the contract, and returns whether the name had a different one before. */
  isOtherContract(tenant: string, { name, version }: RegisteredTool): boolean {
    const key = pairKey(tenant, name);
    const before = this.#contracts.get(key);
    this.#contracts.set(key, version);
    return before !== undefined && before !== version;
  }

  /** Rejects a risky name above the tenant's limit. `taken`: tools of the same registration, which are not stored yet. */
  riskProblem(
    tenant: string,
    { name, annotations }: RiskyName,
    taken: Iterable<RiskyName>,
  ): Rejection | null {
    if (!isRisky(riskOf(annotations)) || this.risks.has(tenant, name)) return null;
    let fresh = 0;
    for (const other of taken)
      if (isRisky(riskOf(other.annotations)) && !this.risks.has(tenant, other.name)) fresh += 1;
    if (this.risks.count(tenant) + fresh < this.#riskyNamesPerTenant) return null;
    return rejected('too_large', reason('risky_names_of_tenant', { count: this.#riskyNamesPerTenant }));
  }
}
