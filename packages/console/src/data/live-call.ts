import {
  isCallProgressEvent,
  isCallStateEvent,
  isInputGivenEvent,
  isInputRequiredEvent,
} from '@patchboard/client';
import type { CallView } from '@patchboard/wire';
import { onScopeDispose, ref, toValue, watch, type MaybeRefOrGetter, type Ref } from 'vue';
import { brief } from '../format.ts';
import { onEvent } from './live.ts';
import { useCall, type QueryResult } from './queries.ts';

const KEPT = 5;

/** One call, read again whenever its state changes, with the progress events received meanwhile. */
export function useLiveCall(id: MaybeRefOrGetter<string>): {
  query: QueryResult<CallView>;
  progress: Ref<string[]>;
} {
  const query = useCall(id);
  const progress = ref<string[]>([]);
  onScopeDispose(
    onEvent((event) => {
      // A second request of the same round changes no state.
      const isChange = isCallStateEvent(event) || isInputRequiredEvent(event) || isInputGivenEvent(event);
      if (isChange && event.data.tool_call_id === toValue(id)) {
        query.refetch().catch(() => undefined);
      } else if (isCallProgressEvent(event) && event.data.tool_call_id === toValue(id)) {
        progress.value = [...progress.value, brief(event.data.data, 300)].slice(-KEPT);
      }
    }),
  );
  watch(
    () => toValue(id),
    () => (progress.value = []),
  );
  return { query, progress };
}
