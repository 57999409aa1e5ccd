import { encodeSse } from '@patchboard/wire';
import type { Call } from '../../core/call/call.ts';
import type { Carrier } from '../../core/devices/mailboxes.ts';
import type { Soon } from '../../core/soon.ts';
import type { EventStream } from '../shared/streams/streams.ts';
import { toolRequestJson } from './tool-request.ts';

/** Sends requests no faster than they are read: more may wait for a client than a stream may hold unread. */
export class RequestStream implements Carrier {
  readonly #stream: EventStream;
  readonly #find: (callId: string) => Soon<Call | undefined>;
  /** In the order they came; not sent yet. */
  readonly #waiting: Map<string, Call> = new Map();
  #isSending = false;

  /** `find`: the call as it stands by now. */
  constructor(stream: EventStream, find: (callId: string) => Soon<Call | undefined>) {
    this.#stream = stream;
    this.#find = find;
  }

  deliver(call: Call): void {
    if (!this.#isSending && this.#stream.drained() === null) {
      this.#send(call);
      return;
    }
    this.#waiting.set(call.id, call);
    // The client comes again for what it did not get.
    if (!this.#isSending) this.#sendWaiting().catch(() => this.#stream.cutOff());
  }

  withdraw(callId: string, reason: string): void {
    if (this.#waiting.delete(callId)) return;
    const data = JSON.stringify({ tool_call_id: callId, reason });
    this.#stream.write(encodeSse({ event: 'tool_cancel', data }));
  }

  async #sendWaiting(): Promise<void> {
    this.#isSending = true;
    for (const [id, call] of this.#waiting) {
      await this.#stream.drained();
      if (!this.#stream.isOpen) break;
      const now = (await this.#find(id)) ?? call;
      // Over another connection it may have begun meanwhile, and what has begun is not sent a second time.
      if (this.#waiting.delete(id) && now.state.name === call.state.name) this.#send(now);
    }
    this.#isSending = false;
  }

  #send(call: Call): void {
    this.#stream.write(encodeSse({ event: 'tool_request', data: toolRequestJson(call) }));
  }
}
