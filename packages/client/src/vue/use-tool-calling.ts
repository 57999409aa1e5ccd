import { getCurrentScope, onScopeDispose, readonly, ref, type Ref, type ShallowRef } from 'vue';
import type { PatchboardClient } from '../client.ts';
import { createToolCalling, type ToolCalling } from '../calls/tool-calling.ts';
import { pendingInputs, type PendingInput } from './pending-inputs.ts';

export interface UseToolCalling extends ToolCalling {
  /** Whether a cycle is running. */
  readonly isProcessing: Readonly<Ref<boolean>>;
  /** The error of the last cycle; null if it succeeded. */
  readonly lastError: Readonly<Ref<unknown>>;
  /**
   * The input requests that wait for the user, oldest first, each with `respond` and `decline`. Always empty without
   * `acceptsInput`.
   */
  readonly inputRequests: Readonly<ShallowRef<readonly PendingInput[]>>;
  /** Closes the event stream that keeps prompts current. Called automatically when the component or scope is disposed. */
  dispose(): void;
}

export interface UseToolCallingOptions {
  readonly client: PatchboardClient;
  /**
   * Whether the page shows `inputRequests` to its user. Default false: a tool that needs input fails with
   * `input_unavailable`.
   */
  readonly acceptsInput?: boolean;
}

/**
 * Tool calling for a chat in Vue, using the server of `client`. It subscribes to the server's events with the first
 * prompt and clears cached prompts when the tools change.
 */
export function useToolCalling({ client, acceptsInput = false }: UseToolCallingOptions): UseToolCalling {
  const following = new AbortController();
  const dispose = (): void => following.abort();
  if (getCurrentScope() !== undefined) onScopeDispose(dispose);
  const { list: inputRequests, onInputRequest } = pendingInputs(client);
  const calling = createToolCalling(client, {
    followUntil: following.signal,
    ...(acceptsInput ? { onInputRequest } : {}),
  });
  const running = ref(0);
  const isProcessing = ref(false);
  const lastError = ref<unknown>(null);
  return {
    ...calling,
    isProcessing: readonly(isProcessing),
    lastError: readonly(lastError),
    inputRequests,
    dispose,
    processCycle: async (...cycle) => {
      running.value += 1;
      isProcessing.value = true;
      try {
        const done = await calling.processCycle(...cycle);
        lastError.value = null;
        return done;
      } catch (error) {
        lastError.value = error;
        throw error;
      } finally {
        running.value -= 1;
        isProcessing.value = running.value > 0;
      }
    },
  };
}
