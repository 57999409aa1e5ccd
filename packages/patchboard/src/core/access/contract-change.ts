import { reason, rfc3339 } from '@patchboard/wire';
import { explain, reasonsOf } from '../explanation.ts';
import type { ContractChange, RegisteredTool } from '../tools/registered-tool.ts';
import type { Decision } from './guard.ts';

/** Makes the decision stricter if the tool's contract changed and no operator accepted it: neither grants nor hooks allow it. */
export function withContractChange(decision: Decision, { contractChange: change }: RegisteredTool): Decision {
  if (change === null || decision.effect === 'deny') return decision;
  const { effect, from, since, differences } = change;
  const why = reason('contract_changed', { since: rfc3339(since) });
  const asked = decision.effect === 'ask' ? reasonsOf(decision) : [];
  return {
    effect,
    rule: 'contract',
    ...explain(...asked, why),
    policyVersion: decision.policyVersion,
    meta: { ...decision.meta, contract_change: { from, differences } },
  };
}

/** What a changed contract means under the setting of its upstream; null: nothing. */
export function changeEffect(onChange: 'ask' | 'run' | 'refuse'): ContractChange['effect'] | null {
  switch (onChange) {
    case 'ask':
      return 'ask';
    case 'refuse':
      return 'deny';
    case 'run':
      return null;
  }
}
