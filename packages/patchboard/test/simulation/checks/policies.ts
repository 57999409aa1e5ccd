import { grantRule, isGrantRule } from '../../../src/core/access/grants.ts';
import { GOVERNED } from '../actors/policies.ts';
import { callSeenIn, storedCalls, type Check, type Evidence } from './check.ts';
import { noticedWithin, type AcknowledgedChange } from './changes.ts';

/**
 * A call names the version of the policy that decided, and that version decides so. A request that was sent after a change
 * was acknowledged is decided by that version or a later one, and by no grant that was revoked before; other nodes have a
 * bounded time to notice the change.
 */
export const policies: Check = {
  name: 'policies',
  check: async (evidence) => {
    const effects = await effectsByVersion(evidence);
    const before = whatHeldBefore(evidence);
    const { world } = evidence;
    const problems: string[] = [];
    for (const { id, toolName, decision } of await storedCalls(evidence.store)) {
      if (toolName !== GOVERNED) continue;
      const { effect, rule, policyVersion } = decision;
      const expected = effects.get(policyVersion);
      const isRight = isGrantRule(rule) ? expected === 'ask' && effect === 'allow' : effect === expected;
      if (!isRight)
        problems.push(`${id}: ${effect} by ${rule}, and version ${policyVersion} says ${String(expected)}`);
      const { sentAt = 0, held = [] } = before.get(id) ?? {};
      for (const { requestedAt, at, version, grant } of held) {
        if (sentAt - at < noticedWithin(world, { requestedAt, at }, sentAt)) continue;
        if (policyVersion < version)
          problems.push(`${id} was decided by version ${policyVersion}, and ${version} was in force`);
        if (grant !== null && rule === grantRule(grant))
          problems.push(`${id} was allowed by ${rule}, which had been revoked`);
      }
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

/** A change that a response has acknowledged. */
interface Change extends AcknowledgedChange {
  /** Of the policy; 0: it was not changed. */
  readonly version: number;
  /** The grant that was revoked. */
  readonly grant: string | null;
}

interface Before {
  readonly sentAt: number;
  readonly held: readonly Change[];
}

/** For each call: the changes that were acknowledged before its request was first sent. */
function whatHeldBefore({ history }: Evidence): ReadonlyMap<string, Before> {
  const changes: Change[] = [];
  const requested = new Map<string, number>();
  const atRequest = new Map<string, Before>();
  const ofCall = new Map<string, Before>();
  for (const entry of history.entries) {
    const { at, who, what, data } = entry;
    if (what === 'change') requested.set(who, at);
    const change = { at, requestedAt: requested.get(who) ?? at };
    if (what === 'policy changed') changes.push({ ...change, version: Number(data['version']), grant: null });
    if (what === 'revoked') changes.push({ ...change, version: 0, grant: String(data['grant']) });
    if (what === 'submit' && !atRequest.has(who)) atRequest.set(who, { sentAt: at, held: [...changes] });
    const seen = what === 'receipt' && data['duplicate'] === false ? callSeenIn(entry) : null;
    const sent = atRequest.get(who);
    // A repeated request gets the same call.
    if (seen !== null && sent !== undefined && !ofCall.has(seen.id)) ofCall.set(seen.id, sent);
  }
  return ofCall;
}
