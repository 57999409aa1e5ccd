import type { Decision } from '../access/guard.ts';
import type { Principal } from '../access/principal.ts';
import type { RegisteredTool } from './registered-tool.ts';

/** For whom a tool is, as its metadata says. */
export interface Audience {
  /** False: for people only. */
  readonly aiCallable: boolean;
  /** Whoever calls it must have shown who they are; local mode is one's own machine and counts as shown. */
  readonly requiresAuth: boolean;
}

export function audienceOf({ metadata }: Pick<RegisteredTool, 'metadata'>): Audience {
  return {
    aiCallable: metadata?.['ai_callable'] !== false,
    requiresAuth: metadata?.['requires_auth'] === true,
  };
}

/** Null: the principal is among them. */
export function audienceDenial(tool: RegisteredTool, { kind, credential }: Principal): Decision | null {
  const { aiCallable, requiresAuth } = audienceOf(tool);
  if (!aiCallable && kind !== 'operator')
    return denial('ai_callable', `${tool.name} is for operators, not for an AI`);
  if (requiresAuth && credential === null && kind !== 'local')
    return denial('requires_auth', `${tool.name} is only for those who show who they are`);
  return null;
}

function denial(member: string, reason: string): Decision {
  return { effect: 'deny', rule: `metadata.${member}`, reason, policyVersion: 0 };
}
