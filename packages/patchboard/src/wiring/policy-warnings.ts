import { decodePolicy } from '../core/access/policy/document.ts';
import { reviewPolicy } from '../core/access/policy/review.ts';
import { DEFAULT_TENANT } from '../core/access/principal.ts';
import { nodeClock } from '../runtime/node-clock.ts';
import type { EngineContext } from './engine-context.ts';

/**
 * Logs likely mistakes in the policy at startup. No device is connected yet, so a pattern that matches nothing is logged
 * only if a tool with a similar name is registered.
 */
export async function logPolicyWarnings({ engine, policies, log }: EngineContext): Promise<void> {
  const decoded = decodePolicy(policies.current(DEFAULT_TENANT).document);
  if (!decoded.ok) return;
  const tools = [...engine.toolIndex.names(DEFAULT_TENANT)];
  const { warnings } = await reviewPolicy(decoded.policy, { tools, agents: null }, () => nodeClock.turn());
  for (const { code, params } of warnings) {
    if (code === 'rule_shadowed' || ('meant' in params && params.meant !== undefined))
      log.warn('policy.warning', { code, ...params });
  }
}
