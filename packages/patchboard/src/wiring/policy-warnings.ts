import { decodePolicy } from '../core/access/policy/document.ts';
import { reviewPolicy } from '../core/access/policy/review.ts';
import type { PolicyService } from '../core/access/policy-service.ts';
import { DEFAULT_TENANT } from '../core/access/principal.ts';
import type { Log } from '../core/ports.ts';
import type { ToolIndex } from '../core/tools/tool-index.ts';
import { nodeClock } from '../runtime/node-clock.ts';

export interface PolicyWarningsParts {
  readonly engine: { readonly toolIndex: Pick<ToolIndex, 'names'> };
  readonly policies: Pick<PolicyService, 'current'>;
  readonly log: Pick<Log, 'warn'>;
}

/**
 * Logs likely mistakes in the policy at startup. No device is connected yet, so a pattern that matches nothing is logged
 * only if a tool with a similar name is registered.
 */
export async function logPolicyWarnings(
  { engine, policies, log }: PolicyWarningsParts,
  isOfUpstream: (pattern: string) => boolean,
): Promise<void> {
  const decoded = decodePolicy(policies.current(DEFAULT_TENANT).document);
  if (!decoded.ok) return;
  const tools = [...engine.toolIndex.names(DEFAULT_TENANT)];
  const { warnings } = await reviewPolicy(decoded.policy, { tools, agents: null }, () => nodeClock.turn());
  for (const { code, params } of warnings) {
    // The tools of an upstream are registered when it is connected.
    if ('pattern' in params && isOfUpstream(String(params.pattern))) continue;
    if (code === 'rule_shadowed' || ('meant' in params && params.meant !== undefined))
      log.warn('policy.warning', { code, ...params });
  }
}
