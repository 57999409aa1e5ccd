import type { ToolSpec } from '@patchboard/wire';
import { ClientTools } from './client-tools.ts';
import type { Limits } from '../limits.ts';
import type { Digest, Schemas } from '../ports.ts';
import {
  rejected,
  type ClientTool,
  type RegisteredTool,
  type Registration,
  type Rejection,
} from './registered-tool.ts';
import type { ServerTool } from './server-tool.ts';
import { DEFAULT_TENANT } from '../access/principal.ts';
import type { TenantDirectory } from '../access/tenant-directory.ts';
import { SimilarNames } from './similar-names.ts';
import { toWireName } from './tool-names.ts';
import { covers, NO_RISK, riskOf, type Risk } from './tool-risks.ts';
import { OWN_TOOL, serverToolProblem, specProblem, withContract, type ToolSupply } from './tool-rules.ts';
import { utf8Bytes } from '../json/utf8-bytes.ts';

export interface RegistryOptions {
  readonly schemas: Schemas;
  readonly digest: Digest;
  readonly limits: Limits;
  readonly tenants: TenantDirectory;
}

/** Every tool that can be called, by tenant and name. Server names are reserved for all tenants. */
export class Registry {
  readonly #options: RegistryOptions;
  readonly #server: Map<string, RegisteredTool> = new Map();
  /** Wire name to name, for tools of this server. */
  readonly #serverNames: Map<string, string> = new Map();
  readonly #similarServerNames: SimilarNames = new SimilarNames();
  readonly #tenants: Map<string, ClientTools> = new Map();
  #version = 0;

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  /** Grows with every change: a cache key for values derived from the list. */
  get version(): number {
    return this.#version + this.#options.tenants.revision;
  }

  /**
   * Checks a tool of this server without adding it; `addServerTool` does both. `risk`: the risk recorded for the name,
   * which is merged into the tool's annotations.
   */
  admitServerTool(tool: ServerTool, supply: ToolSupply = OWN_TOOL, risk: Risk = NO_RISK): Registration {
    const { origin, source, pack } = supply;
    const problem =
      serverToolProblem(tool, this.#options.limits, origin) ?? this.#serverNameProblem(tool.name);
    if (problem !== null) return problem;
    const { name, description, inputSchema, outputSchema, timeoutMs, metadata } = tool;
    const annotations = covers(riskOf(tool.annotations), risk)
      ? tool.annotations
      : { ...tool.annotations, ...risk };
    return withContract(this.#options, origin, {
      tenant: null,
      pack,
      name,
      wireName: this.#freeServerWireName(name),
      source,
      description,
      inputSchema,
      outputSchema,
      timeoutMs,
      metadata,
      annotations,
      bytes: 0,
      hooks: tool.hooks ?? null,
      cacheTtlMs: tool.cacheTtlMs ?? null,
      sandbox: tool.sandbox ?? null,
      unavailable: tool.unavailable ?? null,
      spell: tool.spell ?? null,
      task: tool.task ?? null,
      // The return value of a tool from outside is data, whatever it looks like.
      reportsFailures: origin === 'own',
      clientId: null,
      runsOn: { kind: 'server', tool },
    });
  }

  addServerTool(tool: ServerTool, supply: ToolSupply = OWN_TOOL, risk: Risk = NO_RISK): Registration {
    const admitted = this.admitServerTool(tool, supply, risk);
    if (!admitted.ok) return admitted;
    this.#server.set(tool.name, admitted.tool);
    this.#serverNames.set(admitted.tool.wireName, tool.name);
    this.#similarServerNames.add(tool.name);
    this.#version += 1;
    return admitted;
  }

  namesOfPack(pack: string): string[] {
    return [...this.#server.values()].filter((tool) => tool.pack === pack).map(({ name }) => name);
  }

  /** False: there is none of that name. */
  removeServerTool(name: string): boolean {
    const tool = this.#server.get(name);
    if (tool === undefined) return false;
    this.#server.delete(name);
    this.#serverNames.delete(tool.wireName);
    this.#similarServerNames.remove(name);
    this.#version += 1;
    return true;
  }

  /**
   * Checks a client's tool without adding it; the caller calls `add` once the tool is stored. `wireName`: set for a tool
   * loaded from the store, which keeps its name even if another name is similar.
   */
  admit(tenant: string, clientId: string, spec: ToolSpec, wireName?: string): Registration<ClientTool> {
    const bytes = utf8Bytes(JSON.stringify(spec));
    const problem =
      specProblem(spec, this.#options.limits) ??
      this.#nameProblem(tenant, clientId, spec.name) ??
      (wireName === undefined ? this.#similarityProblem(tenant, spec.name) : null) ??
      this.#roomProblem(tenant, clientId, spec.name, bytes);
    if (problem !== null) return problem;
    return withContract(this.#options, 'outside', {
      tenant,
      pack: null,
      name: spec.name,
      wireName: wireName ?? this.#freeWireName(tenant, spec.name),
      source: 'client',
      description: spec.description ?? '',
      inputSchema: spec.schema,
      outputSchema: spec.output_schema ?? null,
      timeoutMs: spec.timeout_ms ?? this.#options.limits.clientTimeoutMs,
      metadata: spec.metadata ?? null,
      annotations: spec.annotations ?? {},
      bytes,
      ...NOT_IN_PROCESS,
      clientId,
      runsOn: { kind: 'client', clientId },
    });
  }

  /** Adds an admitted client tool, replacing the same client's older one. */
  add(tool: ClientTool): void {
    const tools = this.#tenants.get(tool.tenant) ?? new ClientTools();
    this.#tenants.set(tool.tenant, tools);
    tools.add(tool);
    this.#version += 1;
  }

  remove(tenant: string, name: string): void {
    if (this.#tenants.get(tenant)?.remove(name) === true) this.#version += 1;
  }

  /** Finds a tool by canonical or wire name. */
  find(tenant: string, name: string): RegisteredTool | undefined {
    const tool = this.#named(tenant, name);
    return tool === undefined || this.#isOffered(tenant, tool) ? tool : undefined;
  }

  /** Whether `tool` is still the one that `find` returns for its name. */
  offers(tenant: string, tool: RegisteredTool): boolean {
    return this.find(tenant, tool.name) === tool;
  }

  #isOffered(tenant: string, { pack }: RegisteredTool): boolean {
    return pack === null || this.#options.tenants.offers(tenant, pack);
  }

  /** Ignores whether the tenant has the pack: names of all packs are reserved in all tenants. */
  #named(tenant: string, name: string): RegisteredTool | undefined {
    const tools = this.#tenants.get(tenant);
    const byName = this.#server.get(name) ?? tools?.get(name);
    if (byName !== undefined) return byName;
    const serverName = this.#serverNames.get(name);
    return serverName === undefined ? tools?.byWireName(name) : this.#server.get(serverName);
  }

  /** Finds a tool of the tenant's clients, by canonical name only. */
  clientTool(tenant: string, name: string): ClientTool | undefined {
    return this.#tenants.get(tenant)?.get(name);
  }

  /** The names of all tools in `list`, unordered. */
  *names(tenant: string): Iterable<string> {
    for (const tool of this.#server.values()) if (this.#isOffered(tenant, tool)) yield tool.name;
    for (const { name } of this.#tenants.get(tenant)?.all() ?? []) yield name;
  }

  /** Server tools first, then client tools, each sorted by name. */
  list(tenant: string): RegisteredTool[] {
    const clients = this.#tenants.get(tenant)?.all() ?? [];
    const server = [...this.#server.values()].filter((tool) => this.#isOffered(tenant, tool));
    return [...byName(server), ...byName(clients)];
  }

  ofClient(tenant: string, clientId: string): RegisteredTool[] {
    return byName(this.#tenants.get(tenant)?.of(clientId).values() ?? []);
  }

  #nameProblem(tenant: string, clientId: string, name: string): Rejection | null {
    const holder = this.#named(tenant, name);
    if (holder === undefined) return null;
    const isSame = holder.name === name;
    if (isSame && holder.clientId === clientId) return null;
    const what = isSame ? name : `${name} is the wire name of ${holder.name}, which`;
    // The tenant does not see the tools of packs that it does not have.
    if (!this.#isOffered(tenant, holder))
      return rejected('name_taken', `${name} is reserved by this server: use another name`);
    const owner = this.#tenants.get(tenant)?.get(holder.name)?.clientId;
    if (owner === undefined)
      return rejected('name_taken', `${what} is a tool of this server: use another name`);
    return rejected('name_taken', `${what} ${heldBy(holder.name, owner)}`);
  }

  /** Rejects a new name that a model or an operator could confuse with an existing one. A registered name is not new. */
  #similarityProblem(tenant: string, name: string): Rejection | null {
    const tools = this.#tenants.get(tenant);
    if (tools?.get(name) !== undefined) return null;
    const other = this.#similarServerNames.similarTo(name) ?? tools?.similar.similarTo(name);
    if (other === undefined) return null;
    const reason = `the name differs from that of the tool ${other} only in case, dots or underscores; choose another`;
    return rejected('name_taken', reason);
  }

  #roomProblem(tenant: string, clientId: string, name: string, bytes: number): Rejection | null {
    const { toolsPerClient, toolsPerTenant, toolBytesPerTenant } = this.#options.limits;
    const tools = this.#tenants.get(tenant);
    const holder = tools?.get(name);
    if (holder === undefined) {
      if ((tools?.of(clientId).size ?? 0) >= toolsPerClient)
        return rejected('too_large', `a client may register ${toolsPerClient} tools`);
      if ((tools?.size ?? 0) >= toolsPerTenant)
        return rejected('too_large', `a tenant may register ${toolsPerTenant} tools`);
    }
    if ((tools?.bytes ?? 0) - (holder?.bytes ?? 0) + bytes > toolBytesPerTenant) {
      return rejected('too_large', `the tools of a tenant may take ${toolBytesPerTenant} bytes together`);
    }
    return null;
  }

  #serverNameProblem(name: string): Rejection | null {
    if (this.#server.has(name)) return rejected('name_taken', `tool registered twice: ${name}`);
    const namesake = this.#named('', name);
    if (namesake !== undefined)
      return rejected(
        'name_taken',
        `${name} is the wire name of ${namesake.name}, which is a tool of this server`,
      );
    const tool = this.#lent(name);
    if (tool === null) return null;
    // The message does not name a client of another tenant.
    const holder =
      tool.tenant === DEFAULT_TENANT
        ? `a client lends a tool under the name ${name}: it ${heldBy(tool.name, tool.clientId)}`
        : `a client lends a tool under the name ${name} in another tenant: use another name`;
    return rejected('name_taken', holder);
  }

  /** The client tool of any tenant whose name or wire name this is. */
  #lent(name: string): ClientTool | null {
    for (const tools of this.#tenants.values()) {
      const holder = tools.get(name) ?? tools.byWireName(name);
      if (holder !== undefined) return holder;
    }
    return null;
  }

  #freeServerWireName(name: string): string {
    const isFree = (candidate: string): boolean => {
      const holder = this.#named('', candidate);
      return (holder === undefined || holder.name === name) && this.#lent(candidate) === null;
    };
    return toWireName(name, isFree, this.#options.digest);
  }

  /** Deterministic unless taken. A wire name must differ from every other tool's name and wire name. */
  #freeWireName(tenant: string, name: string): string {
    const isFree = (candidate: string): boolean => {
      const holder = this.#named(tenant, candidate);
      return holder === undefined || holder.name === name;
    };
    return toWireName(name, isFree, this.#options.digest);
  }
}

/** Members that only tools of this process use. */
const NOT_IN_PROCESS = {
  hooks: null,
  cacheTtlMs: null,
  sandbox: null,
  unavailable: null,
  spell: null,
  task: null,
  reportsFailures: false,
} as const;

/** The part of an error message that names the tool's client and how to free the name. */
function heldBy(name: string, clientId: string): string {
  const route = `DELETE /internal/clients/${encodeURIComponent(clientId)}/tools/${encodeURIComponent(name)}`;
  return (
    `belongs to client ${clientId} of this tenant: use another name, or have that client release it ` +
    `(${route}, \`unregister_tools\` on its socket, or the end of its connection)`
  );
}

function byName(tools: Iterable<RegisteredTool>): RegisteredTool[] {
  return [...tools].sort((a, b) => (a.name < b.name ? -1 : 1));
}
