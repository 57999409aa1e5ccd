import { isEnded, PatchboardError } from '@patchboard/client';
import type { CallView, DryRunView, InputIssueView } from '@patchboard/wire';
import { shallowRef, type Ref } from 'vue';
import { messageOf } from '../failure-texts.ts';
import { cancelCall, dryRun, invoke, readCall, replayCall } from './actions.ts';
import { useAttempt } from './attempt.ts';
import { untilEnded } from './call-end.ts';
import { ranMsOf } from './call-execution.ts';
import { rememberRun } from './sandbox-store.ts';
import { shownState } from './shown-state.ts';

export interface Sandbox {
  readonly call: Ref<CallView | null>;
  /** The run before this one, to compare with. */
  readonly previous: Ref<CallView | null>;
  readonly preview: Ref<DryRunView | null>;
  readonly isRunning: Ref<boolean>;
  readonly problem: Ref<string>;
  readonly issues: Ref<readonly InputIssueView[]>;
  run(given: SandboxRun): Promise<void>;
  tryDry(tool: string, args: unknown): Promise<void>;
  cancel(): Promise<void>;
}

interface SandboxRun {
  readonly tool: string;
  readonly args: unknown;
  /** The text of the arguments. */
  readonly text: string;
  /** The call that this one replays with other arguments. */
  readonly replayOf: string;
}

/** Runs one call at a time, through the same API as every agent. */
export function useSandbox(): Sandbox {
  const call = shallowRef<CallView | null>(null);
  const previous = shallowRef<CallView | null>(null);
  const preview = shallowRef<DryRunView | null>(null);
  const { isBusy: isRunning, problem, issues, attempt } = useAttempt();

  async function follow(id: string, { tool, text }: SandboxRun): Promise<void> {
    if (call.value !== null && isEnded(call.value)) previous.value = call.value;
    call.value = await readCall(id);
    const ended = await untilEnded(id);
    call.value = ended;
    const state = shownState(ended.state, ended.error?.code);
    rememberRun({
      callId: id,
      tool,
      args: text,
      state,
      durationMs: ranMsOf(ended),
      at: new Date().toISOString(),
    });
  }

  return {
    call,
    previous,
    preview,
    isRunning,
    problem,
    issues,
    run: (given) =>
      attempt(async () => {
        preview.value = null;
        const { tool, args, replayOf } = given;
        try {
          const id = replayOf === '' ? await invoke(tool, args) : await replayCall(replayOf, args);
          await follow(id, given);
        } catch (error) {
          // A denied call is refused but recorded: show its record.
          if (!(error instanceof PatchboardError) || error.toolCallId === null) throw error;
          await follow(error.toolCallId, given);
        }
      }),
    tryDry: (tool, args) =>
      attempt(async () => {
        preview.value = await dryRun(tool, args);
        issues.value = preview.value.errors;
      }),
    async cancel() {
      const running = call.value;
      if (running === null || isEnded(running)) return;
      await cancelCall(running.tool_call_id).catch((error: unknown) => (problem.value = messageOf(error)));
    },
  };
}
