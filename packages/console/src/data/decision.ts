import { PatchboardError, type Decision, type GrantOptions } from '@patchboard/client';
import type { ApprovalRequestView, InputIssueView } from '@patchboard/wire';
import { ref, toValue, type MaybeRefOrGetter, type Ref } from 'vue';
import { decideCall } from './actions.ts';
import { messageOf } from './query-client.ts';

export interface DecisionDesk {
  readonly isBusy: Ref<boolean>;
  readonly problem: Ref<string>;
  readonly issues: Ref<readonly InputIssueView[]>;
  /** "Don't ask again", if it shall be said. */
  readonly grant: Ref<GrantOptions | null>;
  decide(word: Pick<Decision, 'decision' | 'note' | 'args'>): Promise<void>;
}

/** An operator's word on one call. It is bound to the digest of what was on the screen. */
export function useDecision(
  request: MaybeRefOrGetter<ApprovalRequestView>,
  grant: Ref<GrantOptions | null>,
  onDecided: (id: string) => void,
): DecisionDesk {
  const isBusy = ref(false);
  const problem = ref('');
  const issues = ref<readonly InputIssueView[]>([]);
  return {
    isBusy,
    problem,
    issues,
    grant,
    async decide(word) {
      if (isBusy.value) return;
      const { tool_call_id: id, digest } = toValue(request);
      isBusy.value = true;
      problem.value = '';
      issues.value = [];
      try {
        const given = word.decision === 'allow' && grant.value !== null ? { grant: grant.value } : {};
        await decideCall(id, { ...word, digest, ...given });
        onDecided(id);
      } catch (error) {
        problem.value = messageOf(error);
        if (error instanceof PatchboardError) issues.value = error.issues;
      } finally {
        isBusy.value = false;
      }
    },
  };
}
