import { decodePolicy } from '../core/access/policy/document.ts';
import { reviewPolicy } from '../core/access/policy/review.ts';
import { DEFAULT_TENANT } from '../core/access/principal.ts';
import type { EngineContext } from './engine-context.ts';

/**
 * What looks like a mistake in the policy that a server starts with. No device is connected yet, so that a pattern which
 * matches nothing is logged only if a tool of nearly that name is registered.
 */
export function logPolicyWarnings({ engine, policies, log }: EngineContext): void {
  const decoded = decodePolicy(policies.current(DEFAULT_TENANT).document);
  if (!decoded.ok) return;
  const tools = [...engine.registry.names(DEFAULT_TENANT)];
  for (const { code, params } of reviewPolicy(decoded.policy, { tools, agents: null }).warnings) {
    if (code === 'rule_shadowed' || params['meant'] !== undefined)
      log.warn('policy.warning', { code, ...params });
  }
}
