import { PatchboardError } from '@patchboard/client';
import type { InputIssueView } from '@patchboard/wire';
import { ref, type Ref } from 'vue';
import { messageOf } from '../failure-texts.ts';

/** The state of a user action: whether it is running, and its error. */
export interface Attempt {
  readonly isBusy: Ref<boolean>;
  readonly problem: Ref<string>;
  /** Validation issues from the server. */
  readonly issues: Ref<readonly InputIssueView[]>;
  /** Never throws: errors are stored for display. */
  readonly attempt: (work: () => Promise<void>) => Promise<void>;
}

/** `onProblem` is called with the message, for components that do not display it themselves. */
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
