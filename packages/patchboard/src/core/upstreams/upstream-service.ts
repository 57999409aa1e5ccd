import { reason, rfc3339, type RejectedTool, type UpstreamStateName } from '@patchboard/wire';
import { DEFAULT_TENANT, type Principal } from '../access/principal.ts';
import type { TenantDirectory } from '../access/tenant-directory.ts';
import { failure, messageOf, type Failure } from '../failures.ts';
import type { EventFeed } from '../ledger/events.ts';
import { plainRow } from '../ledger/ledger.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';
import { keptListOf, loadKeptLists, type KeptList } from './kept-lists.ts';
import type { Upstream, UpstreamStatus } from './upstream.ts';
import { packOf, UpstreamTools, type ConfigureTool, type UpstreamToolsParts } from './upstream-tools.ts';
import { ContractPins } from './contract-pins.ts';

export interface UpstreamServiceParts extends Omit<UpstreamToolsParts, 'pins' | 'isClosed'> {
  readonly tenants: TenantDirectory;
  readonly feed: Pick<EventFeed, 'changed'>;
  /** The names of all packs. */
  readonly packs: Set<string>;
}

/** An upstream with its tools, for operators. */
export interface UpstreamReport {
  readonly upstream: Upstream;
  readonly status: UpstreamStatus;
  readonly tools: readonly RegisteredTool[];
  readonly rejected: readonly RejectedTool[];
  /** Whether its tools were listed since the start. */
  readonly isListed: boolean;
}

interface Attached {
  readonly upstream: Upstream;
  readonly configure: ConfigureTool;
  rejected: readonly RejectedTool[];
  isListed: boolean;
  /** The state of the last ledger row. */
  recorded: UpstreamStateName | null;
}

/** The upstreams of an engine: registers their tools, records what happens to them, and lets an operator accept contracts. */
export class UpstreamService {
  readonly #parts: UpstreamServiceParts;
  readonly #pins: ContractPins = new ContractPins();
  readonly #tools: UpstreamTools;
  readonly #attached: Map<string, Attached> = new Map();
  /** Of upstreams that were not listed since the start. */
  #kept: Map<string, KeptList> = new Map();
  #isStarted = false;
  #isClosed = false;

  constructor(parts: UpstreamServiceParts) {
    this.#parts = parts;
    this.#tools = new UpstreamTools({ ...parts, pins: this.#pins, isClosed: () => this.#isClosed });
  }

  /** Called once, before calls are recovered: loads contracts and lists, and registers the tools of the last lists. */
  async restore(): Promise<void> {
    const { store } = this.#parts;
    await this.#pins.load(store);
    this.#kept = await loadKeptLists(store);
    for (const attached of this.#attached.values()) this.#restoreTools(attached);
  }

  /** Applies a contract that another node has stored: it was accepted, or first seen, there. */
  applyContract(toolName: string, body: string | null): void {
    this.#pins.apply(toolName, body);
    const pack = this.#parts.toolIndex.serverTool(toolName)?.pack;
    for (const { upstream } of this.#attached.values())
      if (packOf(upstream.settings) === pack && this.#tools.pinChanged(upstream, toolName))
        this.#publish(upstream);
  }

  /** Applies a list that another node has stored. A list of this node's own connection is newer. */
  applyList(name: string, body: string | null): void {
    const list = body === null ? null : keptListOf(body);
    if (list === null) this.#kept.delete(name);
    else this.#kept.set(name, list);
    const attached = this.#attached.get(name);
    if (attached !== undefined && !attached.isListed) this.#restoreTools(attached);
  }

  /** Called once, after calls were recovered: upstreams begin to connect. */
  start(): void {
    this.#isStarted = true;
    for (const attached of this.#attached.values()) this.#connect(attached);
  }

  /** Adds an upstream, and connects it if the engine is started. `configure`: the operator's settings of single tools. */
  add(upstream: Upstream, configure: ConfigureTool = (tool) => tool): void {
    const { settings } = upstream;
    const pack = packOf(settings);
    const attached: Attached = { upstream, configure, rejected: [], isListed: false, recorded: null };
    this.#attached.set(settings.name, attached);
    this.#parts.packs.add(pack);
    this.#parts.tenants.limitPack(pack, settings.tenants);
    if (!this.#isStarted) return;
    this.#restoreTools(attached);
    this.#connect(attached);
  }

  /** Removes an upstream and its tools, and ends its connection. Calls that run on it end as disconnected. */
  async remove(name: string): Promise<void> {
    const attached = this.#attached.get(name);
    if (attached === undefined) return;
    const { settings } = attached.upstream;
    this.#attached.delete(name);
    this.#kept.delete(name);
    this.#parts.packs.delete(packOf(settings));
    // The limit stays until an upstream of that name is added: it also decides which tenants learn of the removal.
    this.#tools.withdraw(settings);
    await this.#closeOne(attached.upstream);
    this.#record(attached.upstream, { removed: true });
  }

  /** In order of their names. */
  list(): UpstreamReport[] {
    const names = [...this.#attached.keys()].sort();
    return names.flatMap((name) => this.find(name) ?? []);
  }

  find(name: string): UpstreamReport | undefined {
    const attached = this.#attached.get(name);
    if (attached === undefined) return undefined;
    const { upstream, rejected, isListed } = attached;
    const tools = this.#toolsOf(attached);
    return { upstream, status: upstream.status(), tools, rejected, isListed };
  }

  /**
   * Makes these versions, by the name of the tool, the accepted contracts of the upstream. Returns the names whose contract
   * had changed. If a tool has another version, nothing is accepted.
   */
  async accept(
    principal: Principal,
    name: string,
    versions: Readonly<Record<string, string>>,
  ): Promise<readonly string[] | Failure> {
    const attached = this.#attached.get(name);
    if (attached === undefined) return this.#unknown(name);
    const tools = new Map(this.#toolsOf(attached).map((tool) => [tool.name, tool]));
    const changed: RegisteredTool[] = [];
    for (const [toolName, version] of Object.entries(versions)) {
      const tool = tools.get(toolName);
      if (tool === undefined)
        return failure('tool_not_found', reason('upstream_tool_unknown', { upstream: name, tool: toolName }));
      if (tool.version !== version)
        return failure('conflict', reason('contract_changed_again', { tool: toolName }));
      if (tool.contractChange !== null) changed.push(tool);
    }
    if (changed.length === 0) return [];
    const row = plainRow('upstream.changed', DEFAULT_TENANT, this.#parts.clock.now(), {
      upstream: name,
      accepted: Object.fromEntries(changed.map((tool) => [tool.name, tool.version])),
      by: principal.id,
    });
    await this.#tools.accept(changed, row);
    this.#publish(attached.upstream);
    return changed.map((tool) => tool.name);
  }

  /** Ends the connection and connects again. Returns null if the upstream exists. */
  async restart(name: string): Promise<Failure | null> {
    const attached = this.#attached.get(name);
    if (attached === undefined) return this.#unknown(name);
    await attached.upstream.restart();
    return null;
  }

  /** Ends all connections. What the upstreams report meanwhile is not recorded. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#attached.values()].map(({ upstream }) => this.#closeOne(upstream)));
  }

  async #closeOne(upstream: Upstream): Promise<void> {
    try {
      await upstream.close();
    } catch (error) {
      this.#parts.log.warn('upstream.close_failed', {
        upstream: upstream.settings.name,
        error: messageOf(error),
      });
    }
  }

  #unknown(name: string): Failure {
    const known = [...this.#attached.keys()].sort().join(', ');
    return failure('value_not_found', reason('upstream_unknown', { upstream: name, known }));
  }

  #toolsOf({ upstream }: Attached): RegisteredTool[] {
    return this.#parts.toolIndex.toolsOfPack(packOf(upstream.settings));
  }

  #restoreTools(attached: Attached): void {
    const { upstream, configure } = attached;
    const { name, kind } = upstream.settings;
    const kept = this.#kept.get(name);
    // An upstream of the other kind had the name before.
    if (kept?.kind !== kind) return;
    attached.rejected = this.#tools.restore(upstream, kept.tools, configure).rejected;
  }

  #connect(attached: Attached): void {
    const { upstream, configure } = attached;
    const isCurrent = (): boolean =>
      !this.#isClosed && this.#attached.get(upstream.settings.name) === attached;
    upstream.start({
      listed: (tools, rejected) => {
        if (!isCurrent()) return;
        const report = this.#tools.offer(upstream, tools, configure);
        const before = new Set(attached.rejected.map(({ name }) => name));
        attached.rejected = [...rejected, ...report.rejected];
        this.#logRejected(
          upstream,
          attached.rejected.filter(({ name }) => !before.has(name)),
        );
        attached.isListed = true;
        this.#publish(upstream);
      },
      stateChanged: () => {
        if (isCurrent()) this.#stateChanged(attached);
      },
    });
  }

  #logRejected({ settings: { name } }: Upstream, rejected: readonly RejectedTool[]): void {
    for (const { name: tool, code, reason: why } of rejected)
      this.#parts.log.warn('upstream.tool_rejected', { upstream: name, tool_name: tool, code, reason: why });
  }

  /** Attempts to connect are no change: a ledger row is written if the state between two attempts differs. */
  #stateChanged(attached: Attached): void {
    const { upstream } = attached;
    const { state, lastError } = upstream.status();
    if (state !== 'connecting' && state !== attached.recorded) {
      attached.recorded = state;
      const error = state === 'connected' ? undefined : lastError?.message;
      this.#record(upstream, { state, ...(error === undefined ? {} : { error }) });
      this.#log(state, { upstream: upstream.settings.name, error });
    }
    this.#publish(upstream);
  }

  #log(state: Exclude<UpstreamStateName, 'connecting'>, fields: Readonly<Record<string, unknown>>): void {
    const { log } = this.#parts;
    if (state === 'connected') log.info('upstream.connected', fields);
    else if (state === 'failed') log.warn('upstream.failed', fields);
    else log.warn('upstream.disconnected', fields);
  }

  #record({ settings: { name, kind } }: Upstream, body: Readonly<Record<string, unknown>>): void {
    const { store, clock, tasks } = this.#parts;
    const row = plainRow('upstream.changed', DEFAULT_TENANT, clock.now(), { upstream: name, kind, ...body });
    tasks.start('upstream.changed', async () => await store.append([row]));
  }

  /** The event is for those who may list upstreams, in tenants that have the tools. It is not replayed. */
  #publish(upstream: Upstream): void {
    const { feed, tenants, clock } = this.#parts;
    const { settings } = upstream;
    const data = { at: rfc3339(clock.now()), upstream: settings.name, state: upstream.status().state };
    const pack = packOf(settings);
    feed.changed('upstream.changed', (principal) =>
      principal.scopes.has('metrics:read') && tenants.offers(principal.tenant, pack) ? data : null,
    );
  }
}
