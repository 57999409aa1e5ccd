import type { RejectedTool } from '@patchboard/wire';
import { changeEffect } from '../access/contract-change.ts';
import { DEFAULT_TENANT } from '../access/principal.ts';
import type { DocumentChange } from '../documents.ts';
import { canonicalJson } from '@patchboard/wire/json';
import { plainRow, type LedgerDraft } from '../ledger/ledger.ts';
import type { Store } from '../ports.ts';
import { admitServerTool, type AdmitToolParts } from '../tools/admit-tool.ts';
import {
  rejectedTool,
  type RegisteredTool,
  type Registration,
  type RegistrationReport,
} from '../tools/registered-tool.ts';
import type { ServerTool } from '../tools/server-tool.ts';
import type { ToolMemory } from '../tools/tool-memory.ts';
import { covers, riskDocument, riskOf } from '../tools/tool-risks.ts';
import type { ToolSupply } from '../tools/tool-rules.ts';
import type { ContractPins } from './contract-pins.ts';
import { keptListDocument } from './kept-lists.ts';
import { RegistryWrites, type RegistryWritesParts } from './registry-writes.ts';
import type { Upstream, UpstreamSettings, UpstreamTool } from './upstream.ts';

export interface UpstreamToolsParts extends AdmitToolParts, Omit<RegistryWritesParts, 'store'> {
  readonly store: Store;
  readonly memory: ToolMemory;
  readonly pins: ContractPins;
}

/** Adjusts a tool before it is registered: the time limit and the cache that the operator set for its name. */
export type ConfigureTool = (tool: ServerTool) => ServerTool;

/** The tenant id under which risks of tools of upstreams are stored: such tools belong to no single tenant. */
const EVERY_TENANT = '*';

/** The pack of an upstream, which decides the tenants that have its tools. */
export function packOf({ kind, name }: Pick<UpstreamSettings, 'kind' | 'name'>): string {
  return `${kind}:${name}`;
}

/** What an offer changed. */
interface Offered extends RegistrationReport {
  /** Names that had another contract before. */
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/**
 * Registers the tools of upstreams under the rules for tools from outside. A name keeps every risk it ever had, and its
 * first contract is pinned. A change takes effect at once; its ledger row is written in the background.
 */
export class UpstreamTools {
  readonly #parts: UpstreamToolsParts;
  /** The tools as offered, by name, to find those that did not change. */
  readonly #texts: Map<string, string> = new Map();
  readonly #writes: RegistryWrites;

  constructor(parts: UpstreamToolsParts) {
    this.#parts = parts;
    this.#writes = new RegistryWrites(parts);
  }

  /** Registers the tools of an earlier process: without a ledger row. */
  restore(upstream: Upstream, tools: readonly UpstreamTool[], configure: ConfigureTool): RegistrationReport {
    return this.#replace(upstream, tools, configure).report;
  }

  /** Replaces all tools of the upstream: adds, removes or rejects each independently. */
  offer(upstream: Upstream, tools: readonly UpstreamTool[], configure: ConfigureTool): RegistrationReport {
    const { report, documents } = this.#replace(upstream, tools, configure);
    const { registered, changed, removed } = report;
    if (registered.length + removed.length === 0) return report;
    const { name, kind } = upstream.settings;
    this.#record(
      {
        pack: packOf(upstream.settings),
        ...(registered.length > 0 ? { registered: registered.map((tool) => tool.name) } : {}),
        ...(changed.length > 0 ? { changed } : {}),
        ...(removed.length > 0 ? { removed } : {}),
      },
      [...documents, keptListDocument(name, { kind, tools })],
    );
    return report;
  }

  /** Removes all tools of an upstream that is no longer configured, and its kept list. The pins stay. */
  withdraw(settings: UpstreamSettings): void {
    const pack = packOf(settings);
    const removed = this.#remove(this.#parts.toolIndex.toolsOfPack(pack).map(({ name }) => name));
    if (removed.length > 0) this.#record({ pack, removed }, [keptListDocument(settings.name, null)]);
  }

  /** Accepts the contracts of these registered tools, with a ledger row. */
  async accept(tools: readonly RegisteredTool[], row: LedgerDraft): Promise<void> {
    const { pins, toolIndex, store } = this.#parts;
    await store.saveTools(
      [],
      row,
      tools.map((tool) => pins.documentOf(tool)),
    );
    // With other nodes the change is applied, and another one may have accepted a later contract since.
    if (store.appliesChanges === true) return;
    for (const tool of tools) {
      pins.accept(tool);
      // The upstream may have offered another contract meanwhile.
      if (toolIndex.serverTool(tool.name) !== tool) continue;
      toolIndex.removeServerTool(tool.name);
      toolIndex.addServerTool({ ...tool, contractChange: null });
    }
  }

  /** Compares a registered tool with its contract pin again. Returns whether that changed the tool. */
  pinChanged(upstream: Upstream, toolName: string): boolean {
    const { pins, toolIndex, clock } = this.#parts;
    const tool = toolIndex.serverTool(toolName);
    const effect = changeEffect(upstream.settings.onChange);
    if (tool === undefined || effect === null) return false;
    const change = pins.changeOf(tool, clock.now());
    if (change?.from === tool.contractChange?.from) return false;
    toolIndex.removeServerTool(tool.name);
    toolIndex.addServerTool({ ...tool, contractChange: change === null ? null : { ...change, effect } });
    return true;
  }

  #replace(
    upstream: Upstream,
    tools: readonly UpstreamTool[],
    configure: ConfigureTool,
  ): { readonly report: Offered; readonly documents: readonly DocumentChange[] } {
    const { toolIndex } = this.#parts;
    const pack = packOf(upstream.settings);
    const before = toolIndex.toolsOfPack(pack).map(({ name }) => name);
    const offered = new Map(tools.map((tool) => [tool.name, canonicalJson(tool)]));
    const isSame = (name: string): boolean => this.#texts.get(name) === offered.get(name);
    const same = new Set(before.filter(isSame));
    const outdated = this.#remove(before.filter((name) => !same.has(name)));
    const registered: RegisteredTool[] = [];
    const rejected: RejectedTool[] = [];
    for (const tool of tools) {
      if (same.delete(tool.name)) continue;
      const added = this.#admit(upstream, tool, configure, registered);
      if (!added.ok) {
        rejected.push(rejectedTool(tool.name, added));
        continue;
      }
      toolIndex.addServerTool(added.tool);
      this.#texts.set(tool.name, offered.get(tool.name) ?? '');
      registered.push(added.tool);
    }
    const names = new Set(registered.map(({ name }) => name));
    const report = {
      registered,
      rejected,
      changed: outdated.filter((name) => names.has(name)),
      removed: outdated.filter((name) => !names.has(name)),
    };
    return { report, documents: registered.flatMap((tool) => this.#remember(tool)) };
  }

  #remove(names: readonly string[]): readonly string[] {
    for (const name of names) this.#texts.delete(name);
    return names.filter((name) => this.#parts.toolIndex.removeServerTool(name));
  }

  #admit(
    upstream: Upstream,
    tool: UpstreamTool,
    configure: ConfigureTool,
    taken: readonly RegisteredTool[],
  ): Registration {
    const { memory, pins, clock } = this.#parts;
    const { settings } = upstream;
    const full = memory.riskProblem(EVERY_TENANT, tool, taken);
    if (full !== null) return full;
    const supply: ToolSupply = { origin: 'outside', source: settings.kind, pack: packOf(settings) };
    const risk = memory.risks.of(EVERY_TENANT, tool.name);
    const admitted = admitServerTool(this.#parts, configure(serverToolOf(upstream, tool)), supply, risk);
    const effect = changeEffect(settings.onChange);
    if (!admitted.ok || effect === null) return admitted;
    const change = pins.changeOf(admitted.tool, clock.now());
    if (change === null) return admitted;
    return { ok: true, tool: { ...admitted.tool, contractChange: { ...change, effect } } };
  }

  /** Stores the tool's risk and its contract. */
  #remember(tool: RegisteredTool): DocumentChange[] {
    const { pins, memory } = this.#parts;
    const { name, contractChange } = tool;
    const pin = contractChange === null ? pins.accept(tool) : pins.note(tool, contractChange);
    const documents = pin === null ? [] : [pin];
    const risk = riskOf(tool.annotations);
    if (covers(memory.risks.of(EVERY_TENANT, name), risk)) return documents;
    memory.risks.set(EVERY_TENANT, name, risk);
    return [...documents, riskDocument(EVERY_TENANT, name, risk)];
  }

  #record(body: Readonly<Record<string, unknown>>, documents: readonly DocumentChange[]): void {
    this.#writes.add(plainRow('registry.changed', DEFAULT_TENANT, this.#parts.clock.now(), body), documents);
  }
}

function serverToolOf(upstream: Upstream, tool: UpstreamTool): ServerTool {
  const { name, concurrency, timeoutMs } = upstream.settings;
  return {
    ...tool,
    timeoutMs,
    concurrency: null,
    slot: { name: `upstream:${name}`, limit: concurrency },
    isOnline: () => upstream.isOnline(),
    execute: (args, context) => upstream.execute(tool, args, context),
    abandoned: (carried) => upstream.abandoned?.(carried),
  };
}
