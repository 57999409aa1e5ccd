import { canonicalJson } from '../json/canonical-json.ts';
import type { Digest } from '../ports.ts';
import type { Call } from './call.ts';

/** Covers everything an operator is shown: what runs must hash to the same. */
export function approvalDigest(digest: Digest, call: Call): string {
  const { tenant, toolName, toolVersion, argsJson, runId, agentId, decision } = call;
  const { policyVersion } = decision;
  return digest.sha256(
    canonicalJson({ tenant, toolName, toolVersion, argsJson, runId, agentId, policyVersion }),
  );
}
