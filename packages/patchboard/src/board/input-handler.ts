import type { Principal } from '../core/access/principal.ts';
import type { Call } from '../core/call/call.ts';
import type { InProcessCaller } from '../core/call/live-call.ts';
import type { Engine } from '../core/engine.ts';
import { messageOf, type Failure } from '../core/failures.ts';
import { jsonCopy } from '../core/json/json-copy.ts';
import type { Log } from '../core/ports.ts';
import {
  DECLINE_INPUT,
  pendingInputs,
  type OnInputRequest,
  type PendingInputRequest,
} from '../sdk/tool-call-input.ts';

export interface InputHandlerParts {
  readonly engine: Pick<Engine, 'calls'>;
  readonly log: Log;
  readonly principal: Principal;
  readonly onInputRequest: OnInputRequest;
}

/** Responds to the input requests of a board's call with what the program's function returns. */
export class InputHandler {
  readonly caller: InProcessCaller = {
    hooks: [],
    agent: undefined,
    onInputRequired: (call) => this.required(call),
  };
  readonly #parts: InputHandlerParts;
  /** Ids of the requests that the function was called with. */
  readonly #asked: Set<string> = new Set();

  constructor(parts: InputHandlerParts) {
    this.#parts = parts;
  }

  /** Calls the function for each request that waits and is new, one after the other. */
  required(call: Call): void {
    const requests = pendingInputs(call).filter(({ id }) => !this.#asked.has(id));
    for (const { id } of requests) this.#asked.add(id);
    this.#respondToAll(requests).catch((error: unknown) => this.#failed(call.id, error));
  }

  async #respondToAll(requests: readonly PendingInputRequest[]): Promise<void> {
    for (const request of requests) {
      const refused = await this.#respond(request, await this.#contentFor(request));
      if (refused === null) continue;
      this.#failed(request.callId, refused.message);
      await this.#respond(request, DECLINE_INPUT);
    }
  }

  async #contentFor(request: PendingInputRequest): Promise<unknown> {
    try {
      return await this.#parts.onInputRequest(request);
    } catch (error) {
      this.#failed(request.callId, error);
      return DECLINE_INPUT;
    }
  }

  /** Returns why the response was not taken. Null also if another response or the end of the call was first. */
  async #respond({ callId, id }: PendingInputRequest, content: unknown): Promise<Failure | null> {
    const { engine, principal } = this.#parts;
    const action = content === DECLINE_INPUT ? 'decline' : 'accept';
    const given = await engine.calls.respond(principal, callId, { id, action, content: jsonCopy(content) });
    if (given.ok || given.failure.code === 'conflict' || given.failure.code === 'call_not_found') return null;
    return given.failure;
  }

  #failed(callId: string, error: unknown): void {
    this.#parts.log.error('board.input_handler_failed', { tool_call_id: callId, error: messageOf(error) });
  }
}
