import { BoundedMap } from '../bounded-map.ts';
import type { Limits } from '../limits.ts';
import { pairKey } from '../pair-key.ts';
import type { ServerTool } from '../tools/server-tool.ts';
import type { ReservationRequest } from './provider.ts';
import type { SlotKey } from './slots.ts';

export const SERVER_SLOT = 'server';
const TENANT_SLOT = 'tenant:';

/** Runs whose keys are cached: most calls belong to the run of an earlier one. */
const CACHED_RUNS = 1024;

type SlotLimits = Pick<Limits, 'concurrencyPerRun' | 'concurrencyPerTenant' | 'concurrencyServer'>;

export function tenantSlot(tenant: string): string {
  return `${TENANT_SLOT}${tenant}`;
}

/** Whether calls of several runs wait for the slot, so that another node may have room for them. */
export function isSharedSlot(name: string): boolean {
  return name === SERVER_SLOT || name.startsWith(TENANT_SLOT);
}

/** The slots that a call needs: of its run, tenant, server and tool, from the narrowest to the widest and the tool's last. */
export class SlotKeys {
  readonly #limits: SlotLimits;
  readonly #ofRuns: BoundedMap<string, { readonly tenant: string; readonly keys: readonly SlotKey[] }> =
    new BoundedMap(CACHED_RUNS);

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  of(
    tool: ServerTool,
    { tenant, runId, countsInRun }: Pick<ReservationRequest, 'tenant' | 'runId' | 'countsInRun'>,
  ): readonly SlotKey[] {
    const keys = countsInRun ? this.#ofRun(tenant, runId) : this.#ofTenant(tenant);
    if (tool.concurrency === null && tool.slot === undefined) return keys;
    const all: SlotKey[] = [...keys];
    if (tool.concurrency !== null) all.push({ name: `tool:${tool.name}`, limit: tool.concurrency });
    if (tool.slot !== undefined) all.push({ name: `shared:${tool.slot.name}`, limit: tool.slot.limit });
    return all;
  }

  #ofRun(tenant: string, runId: string): readonly SlotKey[] {
    const cached = this.#ofRuns.get(runId);
    // Runs of two tenants may have the same id.
    if (cached?.tenant === tenant) return cached.keys;
    const ofRun = { name: `run:${pairKey(tenant, runId)}`, limit: this.#limits.concurrencyPerRun };
    const keys = [ofRun, ...this.#ofTenant(tenant)];
    this.#ofRuns.set(runId, { tenant, keys });
    return keys;
  }

  #ofTenant(tenant: string): readonly SlotKey[] {
    const { concurrencyPerTenant, concurrencyServer } = this.#limits;
    return [
      { name: tenantSlot(tenant), limit: concurrencyPerTenant },
      { name: SERVER_SLOT, limit: concurrencyServer },
    ];
  }
}
