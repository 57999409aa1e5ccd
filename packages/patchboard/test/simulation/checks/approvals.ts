import type { Call } from '../../../src/core/call/call.ts';
import { callSeenIn, storedCalls, type Check, type Evidence } from './check.ts';

/**
 * A call that needs an approval runs only after an operator allowed it, with exactly the arguments that were approved. At
 * most one decision is acknowledged for each call, and it is the stored one.
 */
export const approvals: Check = {
  name: 'approvals',
  check: async (evidence) => {
    const problems: string[] = [];
    for (const call of await storedCalls(evidence.store)) {
      if (call.approval !== null) problems.push(...problemsOf(evidence, call));
      else if (call.toolName.endsWith('.risky')) problems.push(`${call.id} needed no approval`);
    }
    return problems;
  },
};

function problemsOf({ history, world }: Evidence, call: Call): string[] {
  const { id, approval, argsJson } = call;
  const problems: string[] = [];
  const sent = new Map(
    history
      .of('decide')
      .filter(({ data }) => data['call'] === id)
      .map(({ who, data }) => [who, data] as const),
  );
  const decided = history.of('decided').filter((entry) => callSeenIn(entry)?.id === id);
  if (decided.length > 1) problems.push(`${decided.length} decisions of ${id} were acknowledged`);
  for (const { who } of decided) {
    const { decision, n } = sent.get(who) ?? {};
    const stored =
      approval?.decision === 'deny' ? 'deny' : approval?.originalArgsJson === null ? 'allow' : 'edit';
    if (decision !== stored)
      problems.push(`${id}: ${String(decision)} was acknowledged, ${stored} is stored`);
    if (numberIn(argsJson) !== n) problems.push(`${id}: approved with ${String(n)}, stored with ${argsJson}`);
  }
  for (const { args } of world.effects.begun.filter(({ callId }) => callId === id)) {
    if (approval?.decision !== 'allow') problems.push(`${id} ran, and it was not approved`);
    if (JSON.stringify(args) !== argsJson)
      problems.push(`${id} ran with ${JSON.stringify(args)}, not ${argsJson}`);
    const allowed = [...sent.values()].some(
      ({ decision, n }) => decision !== 'deny' && n === numberIn(argsJson),
    );
    if (!allowed) problems.push(`${id} ran, and no operator allowed ${argsJson}`);
  }
  return problems;
}

function numberIn(argsJson: string): unknown {
  return (JSON.parse(argsJson) as { n: unknown }).n;
}
