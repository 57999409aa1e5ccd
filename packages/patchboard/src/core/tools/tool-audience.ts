import { reason, type Reason } from '@patchboard/wire';
import type { Decision } from '../access/guard.ts';
import { explain } from '../explanation.ts';
import type { Principal } from '../access/principal.ts';
import type { RegisteredTool } from './registered-tool.ts';

/** Restrictions on the caller, read from the tool's metadata. */
export interface Audience {
  /** False: only operators may call the tool. */
  readonly aiCallable: boolean;
  /** True: the caller must be authenticated. A local principal counts as authenticated. */
  readonly requiresAuth: boolean;
}

export function audienceOf({ metadata }: Pick<RegisteredTool, 'metadata'>): Audience {
  return {
    aiCallable: metadata?.['ai_callable'] !== false,
    requiresAuth: metadata?.['requires_auth'] === true,
  };
}

/** Returns null if the principal may call the tool. */
export function audienceDenial(tool: RegisteredTool, { kind, credential }: Principal): Decision | null {
  const { aiCallable, requiresAuth } = audienceOf(tool);
  if (!aiCallable && kind !== 'operator')
    return denial('ai_callable', reason('tool_for_operators', { tool: tool.name }));
  if (requiresAuth && credential === null && kind !== 'local')
    return denial('requires_auth', reason('tool_needs_credential', { tool: tool.name }));
  return null;
}

function denial(member: string, why: Reason): Decision {
  return { effect: 'deny', rule: `metadata.${member}`, ...explain(why), policyVersion: 0 };
}
