import type { ToolAnnotations } from '@patchboard/wire';
import { BoundedMap } from '../bounded-map.ts';
import type { DocumentStore } from '../documents.ts';
import { pairKey } from '../pair-key.ts';
import { rejected, type RegisteredTool, type Rejection } from './registered-tool.ts';
import { isRisky, riskOf, ToolRisks } from './tool-risks.ts';

/** More names than are registered at once; the oldest are forgotten, and then a change does not show. */
const REMEMBERED_CONTRACTS = 100_000;

type RiskyName = { readonly name: string; readonly annotations?: ToolAnnotations };

/**
 * What is remembered of a name whatever registers it: the highest risk it ever had, and the contract it had last. Client
 * tools and tools of this process that come from outside share it.
 */
export class ToolMemory {
  readonly risks: ToolRisks = new ToolRisks();
  readonly #riskyNamesPerTenant: number;
  /** The contract each name had last, also while it is not registered. */
  readonly #contracts: BoundedMap<string, string> = new BoundedMap(REMEMBERED_CONTRACTS);

  constructor(riskyNamesPerTenant: number) {
    this.#riskyNamesPerTenant = riskyNamesPerTenant;
  }

  async load(store: DocumentStore): Promise<void> {
    await this.risks.load(store);
  }

  /** Remembers the contract. True: the name had another one before. */
  isOtherContract(tenant: string, { name, version }: RegisteredTool): boolean {
    const key = pairKey(tenant, name);
    const before = this.#contracts.get(key);
    this.#contracts.set(key, version);
    return before !== undefined && before !== version;
  }

  /** Why the name cannot be remembered as risky. `taken`: those of the same registration, which are not stored yet. */
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
    const reason = `the risk of ${this.#riskyNamesPerTenant} names is remembered; an operator must forget one first`;
    return rejected('too_large', reason);
  }
}
