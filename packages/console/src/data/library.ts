import type { ToolView } from '@patchboard/wire';

/** Tools with the same prefix before the last dot of their names. */
export interface ToolGroup {
  /** The prefix; empty for tools without one, which form the last group. */
  readonly id: string;
  readonly tools: readonly ToolView[];
}

export interface LibraryFilter {
  readonly words: string;
  readonly source: string;
  /** Names of the selected device's tools; null if no device is selected. */
  readonly lent: ReadonlySet<string> | null;
  readonly risk: string;
  readonly sort: string;
}

export const RISKS = ['readonly', 'destructive', 'requires_approval'] as const;

export function groupTools(tools: readonly ToolView[], filter: LibraryFilter): readonly ToolGroup[] {
  const groups = new Map<string, ToolView[]>();
  for (const tool of tools) {
    if (!fits(tool, filter)) continue;
    const id = groupOf(tool.name);
    groups.set(id, [...(groups.get(id) ?? []), tool]);
  }
  const sorted = [...groups].map(([id, members]) => ({ id, tools: members }));
  const byName = (one: ToolGroup, other: ToolGroup): number =>
    Number(one.id === '') - Number(other.id === '') || one.id.localeCompare(other.id);
  return sorted.sort(
    filter.sort === 'count'
      ? (one, other) => other.tools.length - one.tools.length || byName(one, other)
      : byName,
  );
}

function groupOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(0, dot) : '';
}

export function methodOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(dot + 1) : name;
}

/** Finds a tool by its name, its wire name, or `toolId_methodName`, split at the last underscore. */
export function nameOf(typed: string, tools: readonly ToolView[]): string {
  const cut = typed.lastIndexOf('_');
  const dotted = cut > 0 ? `${typed.slice(0, cut)}.${typed.slice(cut + 1)}` : typed;
  const named = (wanted: string): ToolView | undefined => tools.find(({ name }) => name === wanted);
  const found = named(typed) ?? tools.find(({ wire_name: wire }) => wire === typed) ?? named(dotted);
  return found?.name ?? typed;
}

function fits(tool: ToolView, { words, source, lent, risk }: LibraryFilter): boolean {
  if (lent !== null && !lent.has(tool.name)) return false;
  if (source !== '' && tool.source !== source) return false;
  if (risk !== '' && tool.annotations[risk as (typeof RISKS)[number]] !== true) return false;
  const text = `${tool.name} ${tool.wire_name} ${tool.description}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
