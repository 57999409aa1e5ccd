import { reason } from '@patchboard/wire';
import type { Principal } from '../access/principal.ts';
import { attemptsOf, isOpen, type Call } from '../call/call.ts';
import { openRequests, type InputRequest, type InputRound } from '../call/input.ts';
import { schemaOf } from '../call/input-kinds.ts';
import type { InputRequests } from '../call/input-requests.ts';
import type { LiveCall } from '../call/live-call.ts';
import { waitElsewhere, type WaitElsewhereParts } from '../call/wait-elsewhere.ts';
import type { WaitOptions } from '../call/waiters.ts';
import { failure, problemOf, ToolFailure, type Failure } from '../failures.ts';
import { canonicalJson } from '@patchboard/wire/json';
import type { Peers } from '../peers.ts';
import type { ToolIndex } from '../tools/tool-index.ts';
import {
  begun,
  hasBegun,
  openClientCall,
  refuse,
  type ClientCallParts,
  type RefusedReport,
} from './client-call.ts';
import { attemptToken } from './request-id.ts';

/** What a client asks the caller of a call that it runs. */
export interface ClientInput {
  /** Chosen by the client, unique within the attempt: the same request sent again is recorded once. */
  readonly key: string;
  readonly attemptToken: string;
  /** Recorded if the request begins the call, so that this program may acknowledge it afterwards. */
  readonly program?: string;
  readonly request: Pick<InputRequest, 'message' | 'schema' | 'url'>;
}

export type ClientInputResult =
  { readonly ok: true; readonly call: Call; readonly round: InputRound } | RefusedReport;

export interface ClientInputsParts extends ClientCallParts, WaitElsewhereParts {
  readonly peers: Peers;
  readonly requests: InputRequests;
  readonly toolIndex: ToolIndex;
}

/** Takes the input requests of the clients that run calls, over any transport. The attempt goes on meanwhile. */
export class ClientInputs {
  readonly #parts: ClientInputsParts;

  constructor(parts: ClientInputsParts) {
    this.#parts = parts;
  }

  /** Asks the caller. Idempotent: the same request returns the round that is recorded, with its response if there is one. */
  async request(principal: Principal, id: string, given: ClientInput): Promise<ClientInputResult> {
    for (;;) {
      const live = await openClientCall(this.#parts, principal, id, given.attemptToken);
      if ('ok' in live) return live;
      const { call } = live;
      // It may have moved since it was found.
      if (!isOpen(call) || attemptToken(call) !== given.attemptToken) continue;
      const known = roundOf(call, given.key);
      if (known !== undefined) return repeated(call, known, given.request);
      const [open] = openRequests(call);
      if (call.state.name === 'INPUT_REQUIRED')
        return refuse(failure('conflict', reason('input_request_open', { id: open?.id ?? '' })), call);
      if (!hasBegun(call)) {
        await this.#parts.lifecycle.advance(live, [begun(call, given.program ?? null)]);
        continue;
      }
      const refused = await this.#record(live, given);
      if (refused !== null) return refuse(refused, live.call);
    }
  }

  /** As `request`, and waits up to `ms` for the response or the end of the call. */
  async requestAndWait(
    principal: Principal,
    id: string,
    given: ClientInput,
    ms: number,
    { signal }: Pick<WaitOptions, 'signal'> = {},
  ): Promise<ClientInputResult> {
    const asked = await this.request(principal, id, given);
    if (!asked.ok || asked.round.response !== null || ms <= 0) return asked;
    // The response may have come since.
    const { lifecycle, waiters, peers } = this.#parts;
    const current = lifecycle.find(id)?.call;
    const options = { signal, untilInputGiven: true };
    if (current === undefined) {
      if (!peers.isSingle) await waitElsewhere(this.#parts, asked.call, ms, options);
    } else if (roundOf(current, given.key)?.response === null) await waiters.wait(current, ms, options);
    return await this.request(principal, id, given);
  }

  /** Returns null if the request was recorded, or another move of the call was committed first. */
  async #record(live: LiveCall, { key, request }: ClientInput): Promise<Failure | null> {
    const { requests, toolIndex } = this.#parts;
    const { tenant, toolName, toolVersion } = live.call;
    // After a restart the call may have been recovered before its tool was registered again.
    const tool = toolIndex.find(tenant, toolName);
    if (tool?.version === toolVersion) live.tool ??= tool;
    try {
      await requests.record(live, { requests: { [key]: request }, held: true });
      return null;
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error;
      return error.failure.code === 'tool_failed'
        ? failure('body_invalid', problemOf(error.failure))
        : error.failure;
    }
  }
}

/** The newest response that the current attempt got; null if it got none. */
export function lastResponse(call: Call): InputRound | null {
  const last = call.inputs.at(-1);
  return last !== undefined && last.attempt === attemptsOf(call) && last.response !== null ? last : null;
}

/** Whether the current attempt has asked its caller, and so has certainly begun. */
export function hasAsked(call: Call): boolean {
  return call.inputs.at(-1)?.attempt === attemptsOf(call);
}

function roundOf(call: Call, key: string): InputRound | undefined {
  return call.inputs.find((round) => round.key === key && round.attempt === attemptsOf(call));
}

function repeated(call: Call, round: InputRound, request: ClientInput['request']): ClientInputResult {
  const { message, url = null } = request;
  const isSame =
    round.message === message &&
    round.url === url &&
    canonicalJson(round.schema) === canonicalJson(schemaOf(request));
  return isSame
    ? { ok: true, call, round }
    : refuse(failure('conflict', reason('input_key_reused', { key: round.key })), call);
}
