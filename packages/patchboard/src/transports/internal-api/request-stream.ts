import { encodeSse } from '@patchboard/wire';
import type { Call } from '../../core/call/call.ts';
import type { ClientConnection } from '../../core/devices/client-queues.ts';
import type { EventStream } from '../shared/streams/streams.ts';
import { toolRequestJson } from './tool-request.ts';

/** Sends requests no faster than the client reads them: its queue may be longer than a stream may buffer. */
export class RequestStream implements ClientConnection {
  readonly #stream: EventStream;
  readonly #due: (callId: string) => Call | undefined;
  /** Ids of calls that were delivered and not sent yet, in order. */
  readonly #waiting: Set<string> = new Set();
  #isSending = false;

  /** `due` returns the call if it still has to run. */
  constructor(stream: EventStream, due: (callId: string) => Call | undefined) {
    this.#stream = stream;
    this.#due = due;
  }

  deliver(call: Call): void {
    if (!this.#isSending && this.#stream.drained() === null) {
      this.#send(call);
      return;
    }
    this.#waiting.add(call.id);
    // After a cut-off the client reconnects and gets the rest.
    if (!this.#isSending) this.#sendWaiting().catch(() => this.#stream.cutOff());
  }

  withdraw(callId: string, reason: string): void {
    if (this.#waiting.delete(callId)) return;
    const data = JSON.stringify({ tool_call_id: callId, reason });
    this.#stream.write(encodeSse({ event: 'tool_cancel', data }));
  }

  async #sendWaiting(): Promise<void> {
    this.#isSending = true;
    for (const callId of this.#waiting) {
      await this.#stream.drained();
      if (!this.#stream.isOpen) break;
      const call = this.#due(callId);
      if (this.#waiting.delete(callId) && call !== undefined) this.#send(call);
    }
    this.#isSending = false;
  }

  #send(call: Call): void {
    this.#stream.write(encodeSse({ event: 'tool_request', data: toolRequestJson(call) }));
  }
}
