import { reason, type FailureCode, type Reason, type RejectedTool } from '@patchboard/wire';
import { rejected, rejectedTool } from '../../core/tools/registered-tool.ts';
import { shownName, visibleLine } from '../../core/tools/tool-names.ts';

const LONGEST_NAME = 128;

/** A tool of an upstream with the name that it gets here. */
interface NamedTool {
  /** Its place in the list of the upstream. */
  readonly index: number;
  readonly original: string;
  readonly name: string;
}

export interface ToolNames {
  readonly named: readonly NamedTool[];
  readonly rejected: readonly RejectedTool[];
}

/** Returns `<upstream>.<tool>`. Characters that a tool name cannot have become `_`; dots stay. */
export function upstreamToolName(upstream: string, original: string): string {
  return `${upstream}.${original.replaceAll(/[^A-Za-z0-9_.-]/gu, '_')}`;
}

/** Names all tools of an upstream. Rejects names that are too long, and the later of two tools with one name. */
export function nameUpstreamTools(upstream: string, originals: readonly string[]): ToolNames {
  const holders = new Map<string, NamedTool>();
  const refused: RejectedTool[] = [];
  for (const [index, original] of originals.entries()) {
    const name = upstreamToolName(upstream, original);
    const problem = problemOf(original, name, holders.get(name));
    if (problem === null) holders.set(name, { index, original, name });
    else refused.push(rejectedTool(shownName(name), rejected(problem.code, problem.why)));
  }
  return { named: [...holders.values()], rejected: refused };
}

function problemOf(
  original: string,
  name: string,
  holder: NamedTool | undefined,
): { readonly code: FailureCode; readonly why: Reason } | null {
  if (original === '') return { code: 'name_invalid', why: reason('tool_name_bad', { name: '""' }) };
  if (name.length > LONGEST_NAME) {
    const why = reason('upstream_name_long', { characters: name.length, most: LONGEST_NAME });
    return { code: 'name_invalid', why };
  }
  if (holder === undefined) return null;
  const why = reason('upstream_name_taken', { name, tool: shown(original), other: shown(holder.original) });
  return { code: 'name_taken', why };
}

/** The original comes from the upstream and may contain any character. */
function shown(original: string): string {
  return shownName(visibleLine(original));
}
