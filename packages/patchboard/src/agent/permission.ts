import { decodePolicy, type AgentPolicy } from '../core/access/policy/document.ts';
import type { WrittenPermission } from '../core/access/policy/written-policy.ts';
import { failure } from '../core/failures.ts';
import { AgentError } from './agent-error.ts';

/** What an agent allows itself: the entry of a policy document. Policy of the board may be stricter, never lifted. */
export type AgentPermission = WrittenPermission;

/** Fails closed: a permission that is not fully understood makes no agent. */
export function resolvePermission(permission: AgentPermission): AgentPolicy {
  const decoded = decodePolicy({ default: permission });
  if (decoded.ok) return decoded.policy.default;
  const problems = decoded.problems.map(({ path, message }) => `${nameOf(path)} ${message}`);
  throw new AgentError(failure('body_invalid', problems.join('; ')));
}

function nameOf(path: string): string {
  return `permission${path.replace(/^\/default/, '').replaceAll('/', '.')}`;
}
