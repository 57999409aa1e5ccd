import type { ToolView } from '@patchboard/wire';
import { prettyJson } from '../format.ts';

/** A contract that this browser has loaded. The server keeps only the current one. */
export interface SeenVersion {
  readonly version: string;
  readonly seenAt: string;
  readonly contract: string;
}

const KEY = 'patchboard.contracts';
const KEPT = 5;

function read(): Record<string, SeenVersion[]> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    return typeof kept === 'object' && kept !== null ? (kept as Record<string, SeenVersion[]>) : {};
  } catch {
    return {};
  }
}

/** The part of a contract that callers depend on. */
function contractOf({ name, description, schema, timeout_ms: timeout, annotations }: ToolView): string {
  return prettyJson({ name, description, schema, timeout_ms: timeout, annotations });
}

/** Stores every new contract. If the storage is full, only the comparison is lost. */
export function rememberVersions(tools: readonly ToolView[], tenant: string): void {
  const all = read();
  let isNew = false;
  for (const tool of tools) {
    const key = `${tenant}/${tool.name}`;
    const seen = all[key] ?? [];
    if (seen[0]?.version === tool.version) continue;
    const now = { version: tool.version, seenAt: new Date().toISOString(), contract: contractOf(tool) };
    all[key] = [now, ...seen.filter(({ version }) => version !== tool.version)].slice(0, KEPT);
    isNew = true;
  }
  if (!isNew) return;
  try {
    localStorage.setItem(KEY, JSON.stringify(all));
  } catch {
    localStorage.removeItem(KEY);
  }
}

/** Newest first. */
export function versionsOf(tool: string, tenant: string): readonly SeenVersion[] {
  return read()[`${tenant}/${tool}`] ?? [];
}
