import { reason, type InputAction } from '@patchboard/wire';
import type { Principal } from '../access/principal.ts';
import { isComparedAgain } from '../call/as-approved.ts';
import { attemptRunner, isOpen, type CallState } from '../call/call.ts';
import { endState, expiry } from '../call/end-state.ts';
import { INPUT_CONTENT_BYTES, openRequests, type InputRound } from '../call/input.ts';
import type { InputChecks } from '../call/input-checks.ts';
import { contentHash } from '../call/input-requests.ts';
import type { Lifecycle } from '../call/lifecycle.ts';
import { isIdempotent, isPinnedElsewhere, type LiveCall } from '../call/live-call.ts';
import { roomProblem } from '../call/open-calls.ts';
import { failed } from '../call/outcome.ts';
import { denied, failure, type Failure } from '../failures.ts';
import { utf8Bytes } from '../json/utf8-bytes.ts';
import { inputGivenRow } from '../ledger/ledger.ts';
import type { Limits } from '../limits.ts';
import type { Clock, Digest } from '../ports.ts';
import type { Providers } from '../providers/providers.ts';
import type { Tasks } from '../tasks.ts';
import type { Approvals } from './approvals.ts';

/** What a caller responds to an input request. */
export interface GivenInput {
  /** The id of the input request. */
  readonly id: string;
  readonly action: InputAction;
  readonly content: unknown;
}

export interface InputResponsesParts {
  readonly lifecycle: Lifecycle;
  readonly checks: InputChecks;
  readonly providers: Providers;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly digest: Digest;
  readonly approvals: Pick<Approvals, 'release'>;
  readonly tasks: Tasks;
}

type Move = {
  readonly states: readonly CallState[];
  readonly after: () => void;
};

/** Takes the responses of callers to input requests, each once. */
export class InputResponses {
  readonly #parts: InputResponsesParts;
  /** The last returned request of each call with whose response it was started again. */
  readonly #started: WeakMap<LiveCall, string> = new WeakMap();

  constructor(parts: InputResponsesParts) {
    this.#parts = parts;
  }

  /** Null: the response was taken, and the call goes on or has ended. `principal` may see the call. */
  async respond(live: LiveCall, principal: Principal, given: GivenInput): Promise<Failure | null> {
    if (principal.agentId !== live.call.agentId)
      return failure('permission_denied', denied(reason('input_from_other_caller')));
    for (;;) {
      const { call } = live;
      const round = this.#requested(live, given);
      if ('code' in round) return round;
      const at = this.#parts.clock.now();
      if (call.state.name === 'INPUT_REQUIRED' && call.state.deadlineAt <= at)
        return await this.#expired(live);
      const { action } = given;
      // A link has no content: none is stored that was not validated.
      const content = action === 'accept' && round.schema !== null ? (given.content ?? null) : undefined;
      const contentJson = content === undefined ? null : JSON.stringify(content);
      const problem = this.#contentProblem(live, round, content, contentJson);
      if (problem !== null) return problem;
      const response = { action, contentJson, at };
      const responded: InputRound = { ...round, response };
      const inputs = call.inputs.map((one) => (one.id === round.id ? responded : one));
      const { states, after } = this.#next(live, responded, openRequests({ inputs }).length > 0, at);
      const isTaken = await this.#parts.lifecycle.advance(live, states, {
        inputs,
        keepsHolder: isHeldElsewhere(live, round),
        rows: (moved) => [inputGivenRow(moved, responded, contentHash(this.#parts.digest, response), at)],
      });
      if (isTaken) {
        after();
        return null;
      }
      // Without a newer row the call is not stored any more.
      if (live.call.version === call.version)
        return failure('call_not_found', reason('call_unknown', { id: call.id }));
    }
  }

  /** Another node has recorded the response to a held request: the attempt, which waits at this node, goes on. */
  async resume(live: LiveCall): Promise<void> {
    const { providers } = this.#parts;
    await this.#goOn(live, ({ held }) => held && providers.ofCall(live.call).awaitsInput(live));
  }

  /** Another node has recorded the response to a returned request of a call that only this node runs: starts it, once. */
  async startAgain(live: LiveCall): Promise<void> {
    await this.#goOn(live, ({ held, id }) => !held && this.#started.get(live) !== id);
  }

  /** Moves a call that has all responses to its next state, if the last round `isDue`. */
  async #goOn(live: LiveCall, isDue: (last: InputRound) => boolean): Promise<void> {
    const { lifecycle, clock } = this.#parts;
    const { call } = live;
    const last = call.inputs.at(-1);
    if (call.state.name !== 'INPUT_REQUIRED' || openRequests(call).length > 0) return;
    if (last === undefined || !isDue(last)) return;
    const { states, after } = this.#next(live, last, false, clock.now());
    if (await lifecycle.advanceWithRetry(live, states)) after();
  }

  #requested(live: LiveCall, { id }: GivenInput): InputRound | Failure {
    const { call } = live;
    if (call.state.name !== 'INPUT_REQUIRED') return notRequested(call.id, call.state.name);
    const round = call.inputs.find((one) => one.id === id);
    if (round === undefined) return failure('conflict', reason('input_request_unknown', { id }));
    if (round.response !== null) return failure('conflict', reason('input_already_given', { id }));
    // An earlier process made it, and the tool makes it anew when it runs again.
    if (
      !openRequests(call).includes(round) ||
      (round.held && !isHeldElsewhere(live, round) && !this.#parts.providers.ofCall(call).awaitsInput(live))
    )
      return failure('conflict', reason('input_request_unknown', { id }));
    return round;
  }

  /** The clock that ends the call is late. */
  async #expired(live: LiveCall): Promise<Failure> {
    const { lifecycle } = this.#parts;
    const { call } = live;
    await lifecycle.end(live, expiry(call, lifecycle.outcomeKnowledge(live), isIdempotent(live)));
    return notRequested(call.id, live.call.state.name);
  }

  #contentProblem(
    { call: { tenant } }: LiveCall,
    { id, schema }: InputRound,
    content: unknown,
    contentJson: string | null,
  ): Failure | null {
    if (contentJson === null || schema === null) return null;
    const { limits, lifecycle } = this.#parts;
    if (utf8Bytes(contentJson) > INPUT_CONTENT_BYTES)
      return failure('too_large', reason('input_over_limit', { bytes: INPUT_CONTENT_BYTES }));
    const full = roomProblem(lifecycle.open, limits, tenant, contentJson.length);
    if (full !== null) return failure('overloaded', full);
    return this.#parts.checks.misfit(id, schema, content);
  }

  #start(live: LiveCall): void {
    const { approvals, providers, tasks } = this.#parts;
    // This process has read the call from the store.
    if (live.ownership === 'adopted' && isComparedAgain(live.call))
      tasks.start('release', () => approvals.release(live));
    else providers.ofCall(live.call).start(live);
  }

  #next(live: LiveCall, responded: InputRound, hasMore: boolean, at: number): Move {
    const { call } = live;
    const { providers, limits } = this.#parts;
    const { state } = call;
    if (state.name !== 'INPUT_REQUIRED') throw new Error(`call ${call.id} does not wait for input`);
    const isDeclined = responded.response?.action === 'decline';
    if (isDeclined && !responded.held && !responded.handlesDecline) {
      const ended = failed(failure('input_declined', undefined, { outcome: 'unknown' }));
      return { states: [endState(ended, null)], after: () => live.stop.fire(ended) };
    }
    if (hasMore) return { states: [state], after: nothingMore };
    if (isHeldElsewhere(live, responded)) {
      // That node may learn of the response after the request would have expired.
      const deadlineAt = Math.max(state.deadlineAt, at + limits.queueWaitMs);
      return { states: [{ ...state, deadlineAt }], after: nothingMore };
    }
    if (!responded.held)
      return {
        states: [{ ...state, deadlineAt: at + limits.queueWaitMs }],
        after: () => {
          const isStarted = this.#started.get(live) === responded.id;
          this.#started.set(live, responded.id);
          // It may have ended meanwhile.
          if (!isStarted && isOpen(live.call)) this.#start(live);
        },
      };
    const { attempt } = state;
    const executing: CallState = {
      name: 'EXECUTING',
      deadlineAt: at + responded.remainingMs,
      attempt,
      cause: null,
      ...attemptRunner(state),
    };
    return {
      states: [executing],
      after: () => {
        if (isOpen(live.call)) providers.ofCall(live.call).inputGiven(live, responded);
      },
    };
  }
}

export function notRequested(id: string, state: string): Failure {
  return failure('conflict', reason('input_not_requested', { id, state }));
}

function nothingMore(): void {
  // The call waits for the other responses of this round, or goes on at the node where its attempt waits.
}

/** Another node moves the call on: the attempt that made the request waits there, or only that node runs the call. */
function isHeldElsewhere(live: LiveCall, { held }: InputRound): boolean {
  return (held && live.ownership === 'borrowed') || isPinnedElsewhere(live);
}
