import { isRecord } from '@patchboard/wire/json';
import type { McpUpstreamConfig } from '../../settings/upstream-config.ts';
import { upstreamNameProblem } from '../../settings/upstream-problems.ts';
import { readEntry } from './imported-entry.ts';
import { ImportedTexts, UnknownReference, type ImportedVariables } from './imported-texts.ts';

/** What the file of an MCP client becomes. */
export interface ImportPlan {
  readonly servers: readonly PlannedServer[];
  readonly skipped: readonly { readonly from: string; readonly reason: string }[];
  /** The variables that the settings refer to, by name. */
  readonly variables: readonly string[];
}

interface PlannedServer {
  /** The name in the file. */
  readonly from: string;
  readonly name: string;
  readonly config: McpUpstreamConfig;
  /** Members of the entry that have no counterpart. */
  readonly ignored: readonly string[];
}

export interface ImportOptions {
  /** Secrets become `${VAR}`. */
  readonly asVariables: boolean;
  /** Names that are in use, with where. */
  readonly taken: ReadonlyMap<string, string>;
}

const NAME_LENGTH = 24;

/** Returns null if the value has no servers: it is no file of an MCP client. */
export function planImport(value: unknown, { asVariables, taken }: ImportOptions): ImportPlan | null {
  const entries = serversIn(value);
  if (entries === null) return null;
  const servers: PlannedServer[] = [];
  const skipped: { from: string; reason: string }[] = [];
  const variables: ImportedVariables = new Map();
  for (const [from, entry] of Object.entries(entries)) {
    const read = readEntry(entry);
    if (!read.ok) {
      skipped.push({ from, reason: read.reason });
      continue;
    }
    const named = nameFor(from, servers, taken);
    if (!named.ok) {
      skipped.push({ from, reason: named.problem });
      continue;
    }
    const ours: ImportedVariables = new Map(variables);
    try {
      const config = new ImportedTexts(named.name, asVariables, ours).rewrite(read.config);
      servers.push({ from, name: named.name, config, ignored: read.ignored });
      for (const [variable, known] of ours) variables.set(variable, known);
    } catch (error) {
      if (!(error instanceof UnknownReference)) throw error;
      skipped.push({ from, reason: error.message });
    }
  }
  return { servers, skipped, variables: [...variables.keys()].sort() };
}

/** `mcpServers` of Claude, Cursor and others, `servers` of VS Code, also inside `mcp` of its settings. */
function serversIn(value: unknown): Readonly<Record<string, unknown>> | null {
  if (!isRecord(value)) return null;
  const { mcpServers, servers, mcp } = value;
  if (isRecord(mcpServers)) return mcpServers;
  if (isRecord(servers)) return servers;
  return isRecord(mcp) ? serversIn({ servers: mcp['servers'] }) : null;
}

type Named = { readonly ok: true; readonly name: string } | { readonly ok: false; readonly problem: string };

function nameFor(from: string, planned: readonly PlannedServer[], taken: ImportOptions['taken']): Named {
  const name = from
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replace(/^[_-]+/, '')
    .slice(0, NAME_LENGTH)
    .replace(/[_-]+$/, '');
  if (name === '') return { ok: false, problem: 'its name has no letter or digit; rename it in the file' };
  const problem = upstreamNameProblem(name);
  if (problem !== null) return { ok: false, problem: `${name} ${problem}; rename it in the file` };
  const place = taken.get(name);
  if (place !== undefined) return { ok: false, problem: `the name ${name} is in use: ${place}` };
  const other = planned.find((one) => one.name === name);
  if (other === undefined) return { ok: true, name };
  return { ok: false, problem: `it gets the name ${name}, as ${other.from} does; rename one in the file` };
}
