import { getCurrentScope, onScopeDispose, readonly, ref, type Ref } from 'vue';
import type { PatchboardClient } from '../client.ts';
import { createToolCalling, type ToolCalling } from '../calls/tool-calling.ts';

export interface UseToolCalling extends ToolCalling {
  /** A cycle is under way. */
  readonly isProcessing: Readonly<Ref<boolean>>;
  /** Why the last cycle could not be run; null when it could. */
  readonly lastError: Readonly<Ref<unknown>>;
  /** Ends the event stream that keeps prompts current. Done by itself when the component, or the scope, ends. */
  dispose(): void;
}

/**
 * Tool calls for a chat written in Vue, over the server that `client` talks to. From the first prompt on it follows the
 * server's events, so that no prompt outlives a change of the tools.
 */
export function useToolCalling({ client }: { readonly client: PatchboardClient }): UseToolCalling {
  const following = new AbortController();
  const dispose = (): void => following.abort();
  if (getCurrentScope() !== undefined) onScopeDispose(dispose);
  const calling = createToolCalling(client, { followUntil: following.signal });
  const running = ref(0);
  const isProcessing = ref(false);
  const lastError = ref<unknown>(null);
  return {
    ...calling,
    isProcessing: readonly(isProcessing),
    lastError: readonly(lastError),
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
