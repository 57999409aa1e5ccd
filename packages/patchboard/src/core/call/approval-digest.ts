import { canonicalJson } from '@patchboard/wire/json';
import type { Digest } from '../ports.ts';
import type { Approval, Call } from './call.ts';

/** Starts a digest of version 2, which covers the call's id. A digest of version 1 has no prefix and no id. */
const VERSION_2 = 'v2:';

/**
 * Returns the hash of everything an operator is shown; the call that runs must have the same hash. A call that is already
 * waiting keeps the version of its stored digest, so that an upgrade does not invalidate it.
 */
export function approvalDigest(digest: Digest, call: Call): string {
  const { id, tenant, toolName, toolVersion, argsJson, runId, agentId, decision } = call;
  const { policyVersion } = decision;
  const shown = { tenant, toolName, toolVersion, argsJson, runId, agentId, policyVersion };
  if (isVersion1(call.approval)) return digest.sha256(canonicalJson(shown));
  return `${VERSION_2}${digest.sha256(canonicalJson({ id, ...shown }))}`;
}

function isVersion1(approval: Approval | null): boolean {
  return approval !== null && !approval.digest.startsWith(VERSION_2);
}
