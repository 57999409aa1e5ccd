import type { RejectedTool, ToolAnnotations, UpstreamStateName } from '@patchboard/wire';
import { cell, type Output } from '../output.ts';

/** An upstream with its tools, as a running server or a single connection of the command has seen it. */
export interface SeenUpstream {
  readonly name: string;
  readonly state: UpstreamStateName;
  readonly protocol: string | null;
  readonly lastError: string | null;
  readonly tools: readonly { readonly name: string; readonly annotations: ToolAnnotations }[];
  readonly rejected: readonly RejectedTool[];
}

/** Longer lists of names are replaced by a pattern or cut. */
const NAMED_TOOLS = 12;

/** Returns the upstream for `--json`. */
export function reportJson(seen: SeenUpstream): Readonly<Record<string, unknown>> {
  return {
    state: seen.state,
    protocol: seen.protocol,
    last_error: seen.lastError,
    tools: seen.tools.map(({ name, annotations }) => ({
      name,
      annotations,
      runs_unasked: runsUnasked(annotations),
    })),
    rejected: seen.rejected,
    policy: policyFor(seen),
  };
}

/** Prints the tools, which of them run unasked, and the policy that makes them ask. */
export function printReport(output: Output, seen: SeenUpstream): void {
  if (seen.state !== 'connected') {
    output.note(`${seen.name} is not connected: ${seen.lastError ?? `its state is ${seen.state}`}`);
  } else if (seen.tools.length > 0) {
    output.table(
      [{ title: 'TOOL', flexible: true }, { title: 'CALLS' }],
      seen.tools.map(({ name, annotations }) => [cell(name), callsText(annotations)]),
    );
  } else output.note(`${seen.name} is connected and offers no tools`);
  if (seen.state === 'connected' && seen.lastError !== null) output.note(`${seen.name}: ${seen.lastError}`);
  for (const { name, reason } of seen.rejected.slice(0, NAMED_TOOLS))
    output.note(`not offered: ${name}: ${reason}`);
  const unnamed = seen.rejected.length - NAMED_TOOLS;
  if (unnamed > 0) output.note(`not offered: ${unnamed} more; list --json names all, with the reasons`);
  const policy = policyFor(seen);
  if (policy === null) return;
  const count = seen.tools.filter(({ annotations }) => runsUnasked(annotations)).length;
  output.note(
    `${count} of ${seen.tools.length} tools run unasked, unless the policy says otherwise. This, in the config file, makes them ask:\n${policy}`,
  );
}

/** Without a policy, these annotations decide. */
function runsUnasked({ destructive, requires_approval: requiresApproval }: ToolAnnotations): boolean {
  return destructive !== true && requiresApproval !== true;
}

function callsText(annotations: ToolAnnotations): string {
  if (!runsUnasked(annotations)) return 'ask for approval';
  return annotations.readonly === true ? 'run unasked, read only' : 'run unasked';
}

/** Returns YAML; null if all tools ask anyway. */
function policyFor({ name, tools }: SeenUpstream): string | null {
  const unasked = tools.filter(({ annotations }) => runsUnasked(annotations));
  if (unasked.length === 0) return null;
  const isAll = unasked.length === tools.length || unasked.length > NAMED_TOOLS;
  const patterns = isAll ? [`${name}.*`] : unasked.map((tool) => tool.name);
  return `policy:\n  default:\n    requireApprovalTools: [${patterns.map((one) => `'${one}'`).join(', ')}]`;
}
