import { readonly, ref, type Ref } from 'vue';
import type { PatchboardClient } from '../client.ts';
import { createToolCalling, type ToolCalling } from '../calls/tool-calling.ts';

export interface UseToolCalling extends ToolCalling {
  /** A cycle is under way. */
  readonly isProcessing: Readonly<Ref<boolean>>;
  /** Why the last cycle could not be run; null when it could. */
  readonly lastError: Readonly<Ref<unknown>>;
}

/** Tool calls for a chat written in Vue, over the server that `client` talks to. */
export function useToolCalling({ client }: { readonly client: PatchboardClient }): UseToolCalling {
  const calling = createToolCalling(client);
  const running = ref(0);
  const isProcessing = ref(false);
  const lastError = ref<unknown>(null);
  return {
    ...calling,
    isProcessing: readonly(isProcessing),
    lastError: readonly(lastError),
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
