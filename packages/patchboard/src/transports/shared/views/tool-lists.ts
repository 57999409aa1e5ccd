import { createHash } from 'node:crypto';
import type { ToolDetailView, ToolView } from '@patchboard/wire';
import { BoundedMap } from '../../../core/bounded-map.ts';
import type { Engine } from '../../../core/engine.ts';
import type { Principal } from '../../../core/access/principal.ts';
import type { RegisteredTool } from '../../../core/tools/registered-tool.ts';
import { mcpTool } from '../../../protocols/mcp/tool-list.ts';

export interface ToolList {
  readonly json: string;
  readonly etag: string;
}

/** How a list encodes each tool. Lists and rows are cached per format object: use constants. */
export interface ToolListFormat {
  readonly row: (tool: RegisteredTool) => string;
}

const OWN_FORMAT: ToolListFormat = { row: (tool) => JSON.stringify(toolView(tool)) };
export const MCP_FORMAT: ToolListFormat = { row: (tool) => JSON.stringify(mcpTool(tool)) };

interface Row {
  /** Unique over all tools and formats. */
  readonly number: number;
  readonly json: string;
}

/** LRU size: lists by principal. */
const KEPT_VIEWS = 1000;

/** Upper bound on the characters of all cached lists; the limits of the registry keep one list below it. */
const KEPT_CHARS = 67_108_864;

/** Caches `{"tools":[…]}` as text per format, for all principals that see the same tools, until the registry or the policy changes. */
export class ToolLists {
  readonly #engine: Engine;
  readonly #keptChars: number;
  /** Version of registry and policy that the cache is for. */
  #version = '';
  readonly #views: Map<ToolListFormat, BoundedMap<string, ToolList>> = new Map();
  /** Keyed by a hash of the tools in the list. */
  readonly #lists: Map<string, ToolList> = new Map();
  #chars = 0;
  readonly #rows: WeakMap<ToolListFormat, WeakMap<RegisteredTool, Row>> = new WeakMap();
  #lastNumber = 0;

  /** `keptChars`: upper bound on the characters of all cached lists. */
  constructor(engine: Engine, keptChars: number = KEPT_CHARS) {
    this.#engine = engine;
    this.#keptChars = keptChars;
  }

  for(principal: Principal, format: ToolListFormat = OWN_FORMAT): ToolList {
    const { toolIndex, guard } = this.#engine;
    const version = `${toolIndex.version}.${guard.revision}`;
    if (version !== this.#version) this.#forget();
    this.#version = version;
    const view = `${principal.tenant}\n${principal.kind}\n${principal.agentId}\n${principal.id}`;
    const kept = this.#views.get(format)?.use(view);
    if (kept !== undefined) return kept;
    const rows = this.#rowsOf(this.#engine.tools(principal), format);
    const key = hashOf(rows.map(({ number }) => number).join());
    const list = this.#lists.get(key) ?? this.#make(key, rows);
    if (this.#lists.has(key)) this.#viewsOf(format).set(view, list);
    return list;
  }

  /** Encodes the tools; each is encoded once per format. */
  rows(tools: readonly RegisteredTool[], format: ToolListFormat): string[] {
    return this.#rowsOf(tools, format).map(({ json }) => json);
  }

  #viewsOf(format: ToolListFormat): BoundedMap<string, ToolList> {
    const views = this.#views.get(format) ?? new BoundedMap(KEPT_VIEWS);
    this.#views.set(format, views);
    return views;
  }

  #make(key: string, rows: readonly Row[]): ToolList {
    const json = `{"tools":[${rows.map((row) => row.json).join(',')}]}`;
    const list = { json, etag: `"${hashOf(json).slice(0, 22)}"` };
    if (this.#chars + json.length > this.#keptChars) this.#forget();
    if (json.length > this.#keptChars) return list;
    this.#lists.set(key, list);
    this.#chars += json.length;
    return list;
  }

  /** Views refer to lists, so both are cleared together. */
  #forget(): void {
    this.#views.clear();
    this.#lists.clear();
    this.#chars = 0;
  }

  #rowsOf(tools: readonly RegisteredTool[], format: ToolListFormat): readonly Row[] {
    const known = this.#rows.get(format) ?? new WeakMap<RegisteredTool, Row>();
    this.#rows.set(format, known);
    return tools.map((tool) => {
      const row = known.get(tool) ?? this.#newRow(format.row(tool));
      known.set(tool, row);
      return row;
    });
  }

  #newRow(json: string): Row {
    this.#lastNumber += 1;
    return { number: this.#lastNumber, json };
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

function toolView(tool: RegisteredTool): ToolView {
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
  const { source, clientId, online } = engine.previews.route(tool, tenant);
  return {
    ...toolView(tool),
    output_schema: tool.outputSchema,
    metadata: tool.metadata,
    provider: { kind: source, client_id: clientId, online },
  };
}
