import { PatchboardError } from '@patchboard/client';
import type { InputIssueView } from '@patchboard/wire';
import { ref, type Ref } from 'vue';
import { messageOf } from '../said.ts';

/** Something a person asked for: whether it is under way, and why it failed if it did. */
export interface Attempt {
  readonly isBusy: Ref<boolean>;
  readonly problem: Ref<string>;
  /** What the server found wrong with what was sent. */
  readonly issues: Ref<readonly InputIssueView[]>;
  /** Never throws: what goes wrong is shown. */
  readonly attempt: (work: () => Promise<void>) => Promise<void>;
}

/** `onProblem`: for those who have no place of their own to show it at. */
export function useAttempt(onProblem?: (problem: string) => void): Attempt {
  const isBusy = ref(false);
  const problem = ref('');
  const issues = ref<readonly InputIssueView[]>([]);
  return {
    isBusy,
    problem,
    issues,
    async attempt(work) {
      isBusy.value = true;
      problem.value = '';
      issues.value = [];
      try {
        await work();
      } catch (error) {
        problem.value = messageOf(error);
        if (error instanceof PatchboardError) issues.value = error.issues;
        onProblem?.(problem.value);
      } finally {
        isBusy.value = false;
      }
    },
  };
}
