import type { FailureCode, JsonSchema, ToolAnnotations, ToolSourceName, ToolSpec } from '@patchboard/wire';
import { canonicalJson } from './canonical-json.ts';
import type { Limits } from './limits.ts';
import type { Digest, Schemas, Validator } from './ports.ts';
import type { ServerTool } from './server-tool.ts';
import type { TenantBook } from './tenant-book.ts';
import { hasHiddenCharacters, isToolName, toWireName } from './tool-names.ts';
import { utf8Bytes } from './utf8-bytes.ts';

/** A tool that can be called now. */
export interface RegisteredTool {
  /** Null: a tool of this server. */
  readonly tenant: string | null;
  /** Which pack it came with, and so which tenants have it; null: with none. */
  readonly pack: string | null;
  readonly name: string;
  /** The name model vendors accept; every API takes both. */
  readonly wireName: string;
  readonly source: ToolSourceName;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema | null;
  readonly timeoutMs: number;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly annotations: ToolAnnotations;
  /** Hash of the contract: grants and approvals bind to it. */
  readonly version: string;
  /** Of the client's spec as JSON; 0 for a tool of this server. */
  readonly bytes: number;
  readonly validateInput: Validator;
  readonly validateOutput: Validator | null;
  readonly runsOn: RunsOn;
}

export type RunsOn =
  | { readonly kind: 'server'; readonly tool: ServerTool }
  | { readonly kind: 'client'; readonly clientId: string };

/** A client's tool as it is kept over restarts. */
export interface StoredTool {
  readonly tenant: string;
  readonly clientId: string;
  readonly wireName: string;
  readonly spec: ToolSpec;
  readonly registeredAt: number;
}

export type Registration =
  | { readonly ok: true; readonly tool: RegisteredTool }
  | { readonly ok: false; readonly code: FailureCode; readonly reason: string };

export interface RegistryOptions {
  readonly schemas: Schemas;
  readonly digest: Digest;
  readonly limits: Limits;
  readonly tenants: TenantBook;
}

/** Every tool that can be called, by tenant and name. Server names are reserved for all tenants. */
export class Registry {
  readonly #options: RegistryOptions;
  readonly #server: Map<string, RegisteredTool> = new Map();
  readonly #tenants: Map<string, Map<string, RegisteredTool>> = new Map();
  /** Of all tools of a tenant's clients. */
  readonly #bytes: Map<string, number> = new Map();
  /** Wire name to name, per scope; the empty scope is the server's. */
  readonly #wireNames: Map<string, Map<string, string>> = new Map();
  #version = 0;

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  /** Grows with every change, so that what was made from the list can be cached. */
  get version(): number {
    return this.#version + this.#options.tenants.revision;
  }

  /** Checks a tool of this server without taking it in; `addServerTool` does that. */
  admitServerTool(tool: ServerTool, pack: string | null = null): Registration {
    const problem = this.#serverToolProblem(tool);
    if (problem !== null) return problem;
    const input = this.#options.schemas.compile(tool.inputSchema, 'own');
    if (!input.ok) return rejected('schema_invalid', `input schema of ${tool.name}: ${input.problem}`);
    const output =
      tool.outputSchema === null ? null : this.#options.schemas.compile(tool.outputSchema, 'own');
    if (output !== null && !output.ok)
      return rejected('schema_invalid', `output schema of ${tool.name}: ${output.problem}`);
    const registered: RegisteredTool = {
      tenant: null,
      pack,
      name: tool.name,
      wireName: this.#freeServerWireName(tool.name),
      source: 'server',
      description: tool.description,
      inputSchema: tool.inputSchema,
      outputSchema: tool.outputSchema,
      timeoutMs: tool.timeoutMs,
      metadata: tool.metadata,
      annotations: tool.annotations,
      version: this.#contractHash(tool),
      bytes: 0,
      validateInput: input.validate,
      validateOutput: output === null ? null : output.validate,
      runsOn: { kind: 'server', tool },
    };
    return { ok: true, tool: registered };
  }

  addServerTool(tool: ServerTool, pack: string | null = null): Registration {
    const admitted = this.admitServerTool(tool, pack);
    if (!admitted.ok) return admitted;
    this.#server.set(tool.name, admitted.tool);
    this.#wireScope('').set(admitted.tool.wireName, tool.name);
    this.#version += 1;
    return admitted;
  }

  /** False: there is none of that name. */
  removeServerTool(name: string): boolean {
    const tool = this.#server.get(name);
    if (tool === undefined) return false;
    this.#server.delete(name);
    this.#wireScope('').delete(tool.wireName);
    this.#version += 1;
    return true;
  }

  /** Checks a client's tool without taking it in; `add` does that once it is stored. */
  admit(tenant: string, clientId: string, spec: ToolSpec, wireName?: string): Registration {
    const bytes = utf8Bytes(JSON.stringify(spec));
    const problem =
      this.#problemWith(spec) ??
      this.#nameProblem(tenant, clientId, spec.name) ??
      this.#roomProblem(tenant, clientId, spec.name, bytes);
    if (problem !== null) return problem;
    const input = this.#options.schemas.compile(spec.schema, 'outside');
    if (!input.ok) return rejected('schema_invalid', `schema: ${input.problem}`);
    const output =
      spec.output_schema === undefined ? null : this.#options.schemas.compile(spec.output_schema, 'outside');
    if (output !== null && !output.ok) return rejected('schema_invalid', `output_schema: ${output.problem}`);
    const description = spec.description ?? '';
    const annotations = spec.annotations ?? {};
    const outputSchema = spec.output_schema ?? null;
    return {
      ok: true,
      tool: {
        tenant,
        pack: null,
        name: spec.name,
        wireName: wireName ?? this.#freeWireName(tenant, spec.name),
        source: 'client',
        description,
        inputSchema: spec.schema,
        outputSchema,
        timeoutMs: spec.timeout_ms ?? this.#options.limits.clientTimeoutMs,
        metadata: spec.metadata ?? null,
        annotations,
        version: this.#contractHash({
          name: spec.name,
          description,
          inputSchema: spec.schema,
          outputSchema,
          annotations,
          metadata: spec.metadata ?? null,
        }),
        bytes,
        validateInput: input.validate,
        validateOutput: output === null ? null : output.validate,
        runsOn: { kind: 'client', clientId },
      },
    };
  }

  /** Takes in an admitted client tool; replaces the same client's older one. */
  add(tool: RegisteredTool): void {
    if (tool.tenant === null) throw new Error('server tools are added with addServerTool');
    const tools = this.#tenants.get(tool.tenant) ?? new Map<string, RegisteredTool>();
    this.#tenants.set(tool.tenant, tools);
    this.#countBytes(tool.tenant, tool.bytes - (tools.get(tool.name)?.bytes ?? 0));
    tools.set(tool.name, tool);
    this.#wireScope(tool.tenant).set(tool.wireName, tool.name);
    this.#version += 1;
  }

  remove(tenant: string, name: string): void {
    const tool = this.#tenants.get(tenant)?.get(name);
    if (tool === undefined) return;
    this.#tenants.get(tenant)?.delete(name);
    this.#countBytes(tenant, -tool.bytes);
    this.#wireScope(tenant).delete(tool.wireName);
    this.#version += 1;
  }

  /** By canonical or wire name. */
  find(tenant: string, name: string): RegisteredTool | undefined {
    const tool = this.#named(tenant, name);
    return tool === undefined || this.#isOffered(tenant, tool) ? tool : undefined;
  }

  #isOffered(tenant: string, { pack }: RegisteredTool): boolean {
    return pack === null || this.#options.tenants.offers(tenant, pack);
  }

  /** Whether the tenant has it or not: the names of all packs are reserved for all. */
  #named(tenant: string, name: string): RegisteredTool | undefined {
    const tools = this.#tenants.get(tenant);
    const byName = this.#server.get(name) ?? tools?.get(name);
    if (byName !== undefined) return byName;
    const serverName = this.#wireNames.get('')?.get(name);
    if (serverName !== undefined) return this.#server.get(serverName);
    const tenantName = this.#wireNames.get(tenant)?.get(name);
    return tenantName === undefined ? undefined : tools?.get(tenantName);
  }

  /** Of the tenant's clients, by canonical name only. */
  clientTool(tenant: string, name: string): RegisteredTool | undefined {
    return this.#tenants.get(tenant)?.get(name);
  }

  /** Server tools first, each part by name. */
  list(tenant: string): RegisteredTool[] {
    const clients = this.#tenants.get(tenant)?.values() ?? [];
    const server = [...this.#server.values()].filter((tool) => this.#isOffered(tenant, tool));
    return [...byName(server), ...byName(clients)];
  }

  ofClient(tenant: string, clientId: string): RegisteredTool[] {
    return byName(this.#heldBy(tenant, clientId));
  }

  #heldBy(tenant: string, clientId: string): RegisteredTool[] {
    const tools = [...(this.#tenants.get(tenant)?.values() ?? [])];
    return tools.filter((tool) => tool.runsOn.kind === 'client' && tool.runsOn.clientId === clientId);
  }

  #countBytes(tenant: string, more: number): void {
    this.#bytes.set(tenant, (this.#bytes.get(tenant) ?? 0) + more);
  }

  #problemWith({ name, description = '', metadata }: ToolSpec): Registration | null {
    const { toolDescriptionBytes, toolMetadataBytes } = this.#options.limits;
    if (!isToolName(name)) {
      return rejected('name_invalid', NAME_RULE);
    }
    if (utf8Bytes(description) > toolDescriptionBytes) {
      return rejected('too_large', `the description is larger than ${toolDescriptionBytes} bytes`);
    }
    if (metadata !== undefined && utf8Bytes(JSON.stringify(metadata)) > toolMetadataBytes) {
      return rejected('too_large', `the metadata is larger than ${toolMetadataBytes} bytes as JSON`);
    }
    if (hasHiddenCharacters(description)) {
      return rejected(
        'schema_invalid',
        'the description holds control, bidirectional or zero-width characters',
      );
    }
    return null;
  }

  #nameProblem(tenant: string, clientId: string, name: string): Registration | null {
    if (this.#server.has(name))
      return rejected('name_taken', 'the name is reserved for a tool of this server');
    const namesake = this.#named(tenant, name);
    if (namesake !== undefined && namesake.name !== name) {
      return rejected('name_taken', `the name is the wire name of ${namesake.name}`);
    }
    const holder = this.clientTool(tenant, name);
    if (holder !== undefined && holder.runsOn.kind === 'client' && holder.runsOn.clientId !== clientId) {
      return rejected('name_taken', 'another client of this tenant owns the name');
    }
    return null;
  }

  #roomProblem(tenant: string, clientId: string, name: string, bytes: number): Registration | null {
    const { toolsPerClient, toolsPerTenant, toolBytesPerTenant } = this.#options.limits;
    const holder = this.clientTool(tenant, name);
    if (holder === undefined) {
      if (this.#heldBy(tenant, clientId).length >= toolsPerClient)
        return rejected('too_large', `a client may register ${toolsPerClient} tools`);
      if ((this.#tenants.get(tenant)?.size ?? 0) >= toolsPerTenant)
        return rejected('too_large', `a tenant may register ${toolsPerTenant} tools`);
    }
    if ((this.#bytes.get(tenant) ?? 0) - (holder?.bytes ?? 0) + bytes > toolBytesPerTenant) {
      return rejected('too_large', `the tools of a tenant may take ${toolBytesPerTenant} bytes together`);
    }
    return null;
  }

  /** A version that its author changed is another contract, also where nothing else of it changed. */
  #contractHash(
    tool: Pick<
      ServerTool,
      'name' | 'description' | 'inputSchema' | 'outputSchema' | 'annotations' | 'metadata'
    >,
  ): string {
    const { name, description, inputSchema, outputSchema, annotations, metadata } = tool;
    const authors = metadata?.['version'] === undefined ? {} : { version: metadata['version'] };
    return this.#options.digest.sha256(
      canonicalJson({ name, description, inputSchema, outputSchema, annotations, ...authors }),
    );
  }

  #wireScope(tenant: string): Map<string, string> {
    const scope = this.#wireNames.get(tenant) ?? new Map<string, string>();
    this.#wireNames.set(tenant, scope);
    return scope;
  }

  #serverToolProblem({ name, timeoutMs, cacheTtlMs, annotations }: ServerTool): Registration | null {
    if (!isToolName(name))
      return rejected('name_invalid', `bad tool name: ${JSON.stringify(name)}: ${NAME_RULE}`);
    if (this.#server.has(name)) return rejected('name_taken', `tool registered twice: ${name}`);
    if (this.#isLent(name)) return rejected('name_taken', `a client lends a tool under the name ${name}`);
    const { maxTimeoutMs } = this.#options.limits;
    if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > maxTimeoutMs)
      return rejected('schema_invalid', `timeout of ${name} must be 1 to ${maxTimeoutMs} whole milliseconds`);
    if (annotations.readonly === true && annotations.destructive === true)
      return rejected('schema_invalid', `${name} cannot be both readonly and destructive`);
    if (cacheTtlMs !== undefined && annotations.readonly !== true)
      return rejected('schema_invalid', `${name} does not only read, so its results cannot be given again`);
    return null;
  }

  /** By whatever tenant's client, as a name or a wire name. */
  #isLent(name: string): boolean {
    return [...this.#tenants.keys()].some((tenant) => {
      const holder = this.find(tenant, name);
      return holder !== undefined && holder.tenant !== null;
    });
  }

  #freeServerWireName(name: string): string {
    const isFree = (candidate: string): boolean => {
      const holder = this.find('', candidate);
      return (holder === undefined || holder.name === name) && !this.#isLent(candidate);
    };
    return toWireName(name, isFree, this.#options.digest);
  }

  /** Deterministic unless taken; a wire name may not be any other tool's name or wire name. */
  #freeWireName(tenant: string, name: string): string {
    const isFree = (candidate: string): boolean => {
      const holder = this.#named(tenant, candidate);
      return holder === undefined || holder.name === name;
    };
    return toWireName(name, isFree, this.#options.digest);
  }
}

const NAME_RULE = 'a name is 1 to 128 of A-Z a-z 0-9 _ . - and not made of dots only';

function rejected(code: FailureCode, reason: string): Registration {
  return { ok: false, code, reason };
}

function byName(tools: Iterable<RegisteredTool>): RegisteredTool[] {
  return [...tools].sort((a, b) => (a.name < b.name ? -1 : 1));
}
