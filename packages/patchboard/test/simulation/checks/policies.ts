import { grantRule, isGrantRule } from '../../../src/core/access/grants.ts';
import { GOVERNED } from '../actors/policies.ts';
import { callSeenIn, storedCalls, type Check, type Evidence } from './check.ts';

/**
 * A call names the version of the policy that decided, and that version decides so. A request that was sent after a change
 * was acknowledged is decided by that version or a later one, and by no grant that was revoked before.
 */
export const policies: Check = {
  name: 'policies',
  check: async (evidence) => {
    const effects = await effectsByVersion(evidence);
    const before = whatHeldBefore(evidence);
    const problems: string[] = [];
    for (const { id, toolName, decision } of await storedCalls(evidence.store)) {
      if (toolName !== GOVERNED) continue;
      const { effect, rule, policyVersion } = decision;
      const expected = effects.get(policyVersion);
      const isRight = isGrantRule(rule) ? expected === 'ask' && effect === 'allow' : effect === expected;
      if (!isRight)
        problems.push(`${id}: ${effect} by ${rule}, and version ${policyVersion} says ${String(expected)}`);
      const { version = 0, revoked = [] } = before.get(id) ?? {};
      if (policyVersion < version)
        problems.push(`${id} was decided by version ${policyVersion}, and ${version} was in force`);
      if (revoked.some((grant) => rule === grantRule(grant)))
        problems.push(`${id} was allowed by ${rule}, which had been revoked`);
    }
    return problems;
  },
};

async function effectsByVersion({ store }: Evidence): Promise<ReadonlyMap<number, string>> {
  const effects = new Map<number, string>([[0, 'allow']]);
  for (const { body } of await store.documents('policy')) {
    const { version, document } = JSON.parse(body) as {
      version: number;
      document: { default: { rules: [{ effect: string }] } };
    };
    effects.set(version, document.default.rules[0].effect);
  }
  return effects;
}

interface Held {
  readonly version: number;
  readonly revoked: readonly string[];
}

/** For each call: the newest policy and the revoked grants that were acknowledged before its request was first sent. */
function whatHeldBefore({ history }: Evidence): ReadonlyMap<string, Held> {
  let held: Held = { version: 0, revoked: [] };
  const atRequest = new Map<string, Held>();
  const ofCall = new Map<string, Held>();
  for (const entry of history.entries) {
    const { who, what, data } = entry;
    if (what === 'policy changed')
      held = { ...held, version: Math.max(held.version, Number(data['version'])) };
    if (what === 'revoked') held = { ...held, revoked: [...held.revoked, String(data['grant'])] };
    if (what === 'submit' && !atRequest.has(who)) atRequest.set(who, held);
    const seen = what === 'receipt' && data['duplicate'] === false ? callSeenIn(entry) : null;
    const sent = atRequest.get(who);
    // A repeated request gets the same call.
    if (seen !== null && sent !== undefined && !ofCall.has(seen.id)) ofCall.set(seen.id, sent);
  }
  return ofCall;
}
