import { wireNamesOf, type ClientTool } from './registered-tool.ts';
import { SimilarNames } from './similar-names.ts';

/** The tools that clients of one tenant registered, indexed by name, by wire name and by client. */
export class ClientToolIndex {
  readonly #tools: Map<string, ClientTool> = new Map();
  readonly #names: Map<string, string> = new Map();
  readonly #clients: Map<string, Map<string, ClientTool>> = new Map();
  readonly similar: SimilarNames = new SimilarNames();
  #bytes = 0;

  get size(): number {
    return this.#tools.size;
  }

  /** Total size of all specs as JSON. */
  get bytes(): number {
    return this.#bytes;
  }

  get(name: string): ClientTool | undefined {
    return this.#tools.get(name);
  }

  /** Finds a tool by its wire name or earlier wire name. */
  byWireName(wireName: string): ClientTool | undefined {
    const name = this.#names.get(wireName);
    return name === undefined ? undefined : this.#tools.get(name);
  }

  all(): Iterable<ClientTool> {
    return this.#tools.values();
  }

  of(clientId: string): ReadonlyMap<string, ClientTool> {
    return this.#clients.get(clientId) ?? new Map();
  }

  /** Replaces an existing tool of the same name. */
  add(tool: ClientTool): void {
    this.remove(tool.name);
    const { clientId } = tool;
    const held = this.#clients.get(clientId) ?? new Map<string, ClientTool>();
    this.#clients.set(clientId, held.set(tool.name, tool));
    this.#tools.set(tool.name, tool);
    for (const wireName of wireNamesOf(tool)) this.#names.set(wireName, tool.name);
    this.similar.add(tool.name);
    this.#bytes += tool.bytes;
  }

  /** Returns false if there is no tool of that name. */
  remove(name: string): boolean {
    const tool = this.#tools.get(name);
    if (tool === undefined) return false;
    const { clientId } = tool;
    const held = this.#clients.get(clientId);
    held?.delete(name);
    if (held?.size === 0) this.#clients.delete(clientId);
    this.#tools.delete(name);
    for (const wireName of wireNamesOf(tool)) this.#names.delete(wireName);
    this.similar.remove(name);
    this.#bytes -= tool.bytes;
    return true;
  }
}
