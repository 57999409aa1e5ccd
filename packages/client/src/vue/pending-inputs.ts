import type { InputRequestView, InputResponseBody } from '@patchboard/wire';
import { shallowRef, type ShallowRef } from 'vue';
import type { PatchboardClient } from '../client.ts';
import { INPUT_RESPONDED, type OnInputRequest } from '../calls/input-requests.ts';

/** An input request of a tool that waits for the user of the page. */
export interface PendingInput {
  readonly toolCallId: string;
  readonly request: InputRequestView;
  /**
   * Sends the content; none for a link. Rejects with `input_invalid`, and the request stays pending, if the content does
   * not fit the schema.
   */
  respond(content?: unknown): Promise<void>;
  decline(): Promise<void>;
}

export interface PendingInputs {
  readonly list: Readonly<ShallowRef<readonly PendingInput[]>>;
  readonly onInputRequest: OnInputRequest;
}

/** Keeps the input requests of running cycles until each has its response or is over. */
export function pendingInputs(client: PatchboardClient): PendingInputs {
  const list = shallowRef<readonly PendingInput[]>([]);
  const onInputRequest: OnInputRequest = (request, { toolCallId, signal }) =>
    new Promise<unknown>((resolve) => {
      const leave = (): void => {
        list.value = list.value.filter((one) => one !== pending);
        resolve(INPUT_RESPONDED);
      };
      const send = async (response: Omit<InputResponseBody, 'id'>): Promise<void> => {
        await client.respondInput(toolCallId, { id: request.id, ...response });
        leave();
      };
      const pending: PendingInput = {
        toolCallId,
        request,
        respond: (content) => send({ action: 'accept', content }),
        decline: () => send({ action: 'decline' }),
      };
      list.value = [...list.value, pending];
      signal.addEventListener('abort', leave, { once: true });
    });
  return { list, onInputRequest };
}
