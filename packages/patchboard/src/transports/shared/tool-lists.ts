import { createHash } from 'node:crypto';
import type { ToolDetailView, ToolView } from '@patchboard/wire';
import type { Engine } from '../../core/engine.ts';
import type { Principal } from '../../core/principal.ts';
import type { RegisteredTool } from '../../core/registry.ts';

export interface ToolList {
  readonly json: string;
  readonly etag: string;
}

interface KeptList extends ToolList {
  readonly version: string;
}

/** More principals than ask at once; beyond it everything is made anew, which is only slower. */
const KEPT_LISTS = 1000;

/** `GET /v1/tools` as text, made once per change of the registry and per principal's view. */
export class ToolLists {
  readonly #engine: Engine;
  readonly #kept: Map<string, KeptList> = new Map();
  readonly #rows: WeakMap<RegisteredTool, string> = new WeakMap();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  for(principal: Principal): ToolList {
    const { registry, guard } = this.#engine;
    const version = `${registry.version}.${guard.revision}`;
    const view = `${principal.tenant}\n${principal.kind}\n${principal.agentId}\n${principal.id}`;
    const kept = this.#kept.get(view);
    if (kept?.version === version) return kept;
    const json = `{"tools":[${this.#engine
      .tools(principal)
      .map((tool) => this.#row(tool))
      .join(',')}]}`;
    const etag = `"${createHash('sha256').update(json).digest('base64url').slice(0, 22)}"`;
    if (this.#kept.size >= KEPT_LISTS) this.#kept.clear();
    const list = { version, json, etag };
    this.#kept.set(view, list);
    return list;
  }

  #row(tool: RegisteredTool): string {
    const known = this.#rows.get(tool);
    if (known !== undefined) return known;
    const row = JSON.stringify(toolView(tool));
    this.#rows.set(tool, row);
    return row;
  }
}

export function toolView(tool: RegisteredTool): ToolView {
  return {
    name: tool.name,
    source: tool.source,
    description: tool.description,
    schema: tool.inputSchema,
    timeout_ms: tool.timeoutMs,
    wire_name: tool.wireName,
    version: tool.version,
    annotations: tool.annotations,
  };
}

export function toolDetailView(engine: Engine, tenant: string, tool: RegisteredTool): ToolDetailView {
  const { source, clientId, online } = engine.route(tool, tenant);
  return {
    ...toolView(tool),
    output_schema: tool.outputSchema,
    metadata: tool.metadata,
    provider: { kind: source, client_id: clientId, online },
  };
}
