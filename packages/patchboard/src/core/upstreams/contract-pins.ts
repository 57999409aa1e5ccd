import type { ContractDifference } from '@patchboard/wire';
import type { DocumentChange, DocumentStore } from '../documents.ts';
import { isRecord } from '@patchboard/wire/json';
import { jsonDiff } from '../json/json-diff.ts';
import type { ContractChange, RegisteredTool } from '../tools/registered-tool.ts';

/** The contract that an operator accepted, or the first one seen. */
interface ContractPin {
  readonly version: string;
  readonly contract: unknown;
  /** The newest contract that differs, and when it was first seen. */
  readonly change: { readonly version: string; readonly since: number } | null;
}

/** A longer value in a difference is cut: it is stored with every call that waits for approval. */
const VALUE_CHARACTERS = 1000;
const DIFFERENCES = 20;

/** The accepted contract of each tool of an upstream. It survives restarts and the removal of the tool. */
export class ContractPins {
  readonly #pins: Map<string, ContractPin> = new Map();

  async load(store: DocumentStore): Promise<void> {
    for (const { id, body } of await store.documents('contract')) this.apply(id, body);
  }

  /** Applies a stored pin; null: it was deleted. */
  apply(id: string, body: string | null): void {
    if (body === null) this.#pins.delete(id);
    // Fails closed: no contract equals an unreadable pin.
    else this.#pins.set(id, pinOf(body) ?? { version: '', contract: null, change: null });
  }

  /** Compares the tool with the accepted contract. Returns null if it is the same or the first of this name. */
  changeOf(tool: RegisteredTool, now: number): Omit<ContractChange, 'effect'> | null {
    const pin = this.#pins.get(tool.name);
    if (pin === undefined || pin.version === tool.version) return null;
    const since = pin.change?.version === tool.version ? pin.change.since : now;
    const differences = jsonDiff(pin.contract, contractOf(tool)).slice(0, DIFFERENCES).map(shortened);
    return { from: pin.version, since, differences };
  }

  /** Makes the tool's contract the accepted one. Returns null if it is already. */
  accept(tool: RegisteredTool): DocumentChange | null {
    const { name, version } = tool;
    const pin = this.#pins.get(name);
    if (pin?.version === version && pin.change === null) return null;
    return this.#set(name, accepted(tool));
  }

  /** The document that stores the tool's contract as the accepted one. */
  documentOf(tool: RegisteredTool): DocumentChange {
    return pinDocument(tool.name, accepted(tool));
  }

  /** Stores that the tool has another contract, which is not accepted. Returns null if that is stored already. */
  note({ name, version }: RegisteredTool, { since }: Pick<ContractChange, 'since'>): DocumentChange | null {
    const pin = this.#pins.get(name);
    if (pin === undefined || pin.change?.version === version) return null;
    return this.#set(name, { ...pin, change: { version, since } });
  }

  #set(name: string, pin: ContractPin): DocumentChange {
    this.#pins.set(name, pin);
    return pinDocument(name, pin);
  }
}

function pinDocument(name: string, pin: ContractPin): DocumentChange {
  return { kind: 'contract', id: name, body: JSON.stringify(pin) };
}

function accepted(tool: RegisteredTool): ContractPin {
  return { version: tool.version, contract: contractOf(tool), change: null };
}

/** The members that the version covers, as an operator reads them. */
function contractOf({
  description,
  inputSchema,
  outputSchema,
  annotations,
  runsOn,
}: RegisteredTool): unknown {
  const target = runsOn.kind === 'server' ? runsOn.tool.target : undefined;
  return { description, inputSchema, outputSchema, annotations, target };
}

function shortened({ path, ...change }: ContractDifference): ContractDifference {
  const short: Record<string, unknown> = {};
  for (const [side, value] of Object.entries(change)) {
    const text = JSON.stringify(value) ?? '';
    short[side] =
      text.length <= VALUE_CHARACTERS
        ? value
        : `${text.slice(0, VALUE_CHARACTERS)}… (${text.length} characters)`;
  }
  return { path, ...short };
}

function pinOf(body: string): ContractPin | null {
  try {
    const pin = JSON.parse(body) as unknown;
    if (!isRecord(pin) || typeof pin['version'] !== 'string') return null;
    return pin as unknown as ContractPin;
  } catch {
    return null;
  }
}
