import type { TenantDirectory } from '../access/tenant-directory.ts';
import { ClientToolIndex } from './client-tool-index.ts';
import { wireNamesOf, type ClientTool, type RegisteredTool } from './registered-tool.ts';
import { SimilarNames } from './similar-names.ts';

/** Every tool that can be called, by tenant and name. Server names are reserved for all tenants. */
export class ToolIndex {
  readonly #tenantDirectory: TenantDirectory;
  readonly #server: Map<string, RegisteredTool> = new Map();
  /** Wire name, present or earlier, to name, for tools of this server. */
  readonly #serverNames: Map<string, string> = new Map();
  readonly #similarServerNames: SimilarNames = new SimilarNames();
  readonly #tenants: Map<string, ClientToolIndex> = new Map();
  #version = 0;

  constructor({ tenants }: { readonly tenants: TenantDirectory }) {
    this.#tenantDirectory = tenants;
  }

  /** Grows with every change: a cache key for values derived from the list. */
  get version(): number {
    return this.#version + this.#tenantDirectory.revision;
  }

  /** Adds an admitted tool of this server. */
  addServerTool(tool: RegisteredTool): void {
    this.#server.set(tool.name, tool);
    for (const wireName of wireNamesOf(tool)) this.#serverNames.set(wireName, tool.name);
    this.#similarServerNames.add(tool.name);
    this.#version += 1;
  }

  hasServerTool(name: string): boolean {
    return this.#server.has(name);
  }

  /** Finds a tool of this server by canonical name, whatever tenants have it. */
  serverTool(name: string): RegisteredTool | undefined {
    return this.#server.get(name);
  }

  /** All tools of this server, whatever tenants have them, sorted by name. */
  serverTools(): RegisteredTool[] {
    return byName(this.#server.values());
  }

  /** Sorted by name. */
  toolsOfPack(pack: string): RegisteredTool[] {
    return byName([...this.#server.values()].filter((tool) => tool.pack === pack));
  }

  /** False: there is none of that name. */
  removeServerTool(name: string): boolean {
    const tool = this.#server.get(name);
    if (tool === undefined) return false;
    this.#server.delete(name);
    for (const wireName of wireNamesOf(tool)) this.#serverNames.delete(wireName);
    this.#similarServerNames.remove(name);
    this.#version += 1;
    return true;
  }

  /** Adds an admitted client tool, replacing the same client's older one. */
  add(tool: ClientTool): void {
    const tools = this.#tenants.get(tool.tenant) ?? new ClientToolIndex();
    this.#tenants.set(tool.tenant, tools);
    tools.add(tool);
    this.#version += 1;
  }

  remove(tenant: string, name: string): void {
    if (this.#tenants.get(tenant)?.remove(name) === true) this.#version += 1;
  }

  /** Finds a tool by canonical name, wire name or earlier wire name. */
  find(tenant: string, name: string): RegisteredTool | undefined {
    const tool = this.holderOf(tenant, name);
    return tool === undefined || this.isOffered(tenant, tool) ? tool : undefined;
  }

  /** Whether `find` still returns this tool for its name: what runs it, whether its contract was accepted meanwhile or not. */
  offers(tenant: string, tool: RegisteredTool): boolean {
    return this.find(tenant, tool.name)?.runsOn === tool.runsOn;
  }

  /** Whether the tenant has the pack of the tool. */
  isOffered(tenant: string, { pack }: RegisteredTool): boolean {
    return pack === null || this.#tenantDirectory.offers(tenant, pack);
  }

  /** As `find`, but also finds tools of packs that the tenant does not have: their names are reserved in all tenants. */
  holderOf(tenant: string, name: string): RegisteredTool | undefined {
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
    for (const tool of this.#server.values()) if (this.isOffered(tenant, tool)) yield tool.name;
    for (const { name } of this.#tenants.get(tenant)?.all() ?? []) yield name;
  }

  /** Server tools first, then client tools, each sorted by name. */
  list(tenant: string): RegisteredTool[] {
    const clients = this.#tenants.get(tenant)?.all() ?? [];
    const server = [...this.#server.values()].filter((tool) => this.isOffered(tenant, tool));
    return [...byName(server), ...byName(clients)];
  }

  ofClient(tenant: string, clientId: string): RegisteredTool[] {
    return byName(this.#tenants.get(tenant)?.of(clientId).values() ?? []);
  }

  /** The client tools of a tenant; undefined if it never had any. */
  clientToolsOf(tenant: string): ClientToolIndex | undefined {
    return this.#tenants.get(tenant);
  }

  /** Finds the client tool of any tenant whose name or wire name this is. */
  clientToolOfAnyTenant(name: string): ClientTool | undefined {
    for (const tools of this.#tenants.values()) {
      const holder = tools.get(name) ?? tools.byWireName(name);
      if (holder !== undefined) return holder;
    }
    return undefined;
  }

  /** Returns a tool's name that differs from `name` only in case, dots or underscores. */
  similarTo(tenant: string, name: string): string | undefined {
    return this.#similarServerNames.similarTo(name) ?? this.#tenants.get(tenant)?.similar.similarTo(name);
  }
}

function byName(tools: Iterable<RegisteredTool>): RegisteredTool[] {
  return [...tools].sort((a, b) => (a.name < b.name ? -1 : 1));
}
