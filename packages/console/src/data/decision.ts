import type { Decision, GrantOptions } from '@patchboard/client';
import type { ApprovalRequestView } from '@patchboard/wire';
import { toValue, type MaybeRefOrGetter, type Ref } from 'vue';
import { decideCall } from './actions.ts';
import { useAttempt, type Attempt } from './attempt.ts';

export interface UseDecisionReturn extends Omit<Attempt, 'attempt'> {
  decide(decision: Pick<Decision, 'decision' | 'note' | 'args'>): Promise<void>;
}

/** An operator's decision on one call, bound to the digest of what was shown. */
export function useDecision(
  request: MaybeRefOrGetter<ApprovalRequestView>,
  /** The grant to add, if any. */
  grant: Ref<GrantOptions | null>,
  onDecided: (id: string) => void,
): UseDecisionReturn {
  const { isBusy, problem, issues, attempt } = useAttempt();
  return {
    isBusy,
    problem,
    issues,
    async decide(decision) {
      if (isBusy.value) return;
      const { tool_call_id: id, digest } = toValue(request);
      await attempt(async () => {
        const withGrant = decision.decision === 'allow' && grant.value !== null ? { grant: grant.value } : {};
        await decideCall(id, { ...decision, digest, ...withGrant });
        onDecided(id);
      });
    },
  };
}
