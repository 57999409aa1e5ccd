import { reason } from '@patchboard/wire';
import { decodePolicy, type AgentPolicy } from '../core/access/policy/document.ts';
import type { WrittenPermission } from '../core/access/policy/written-policy.ts';
import { failure, problemOf } from '../core/failures.ts';
import { AgentError } from './agent-error.ts';

/** Restrictions of one agent, in the form of an agent entry of a policy document. They apply in addition to the board's policy. */
export type AgentPermission = WrittenPermission;

/** Throws for a permission that is not fully understood, so that it cannot be ignored in part. */
export function resolvePermission(permission: AgentPermission): AgentPolicy {
  const decoded = decodePolicy({ default: permission });
  if (decoded.ok) return decoded.policy.default;
  const problems = decoded.problems.map((problem) =>
    reason('request_issue', { place: nameOf(problem.path), problem: problemOf(problem) }),
  );
  throw new AgentError(failure('body_invalid', problems));
}

function nameOf(path: string): string {
  return `permission${path.replace(/^\/default/, '').replaceAll('/', '.')}`;
}
