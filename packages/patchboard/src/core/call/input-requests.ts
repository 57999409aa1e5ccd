import { reason, type Reason } from '@patchboard/wire';
import { BoundedMap } from '../bounded-map.ts';
import { failure, problemOf, ToolFailure, type Failure } from '../failures.ts';
import { jsonCopy } from '../json/json-copy.ts';
import { utf8Bytes } from '../json/utf8-bytes.ts';
import { isGrantRule } from '../access/grants.ts';
import { canonicalJson } from '../json/canonical-json.ts';
import { inputRequiredRow } from '../ledger/ledger.ts';
import type { Limits } from '../limits.ts';
import type { Clock, CompiledSchema, Digest, Schemas } from '../ports.ts';
import type { Call, CallState } from './call.ts';
import {
  INPUT_CONTENT_BYTES,
  MAX_INPUT_ROUNDS,
  MAX_REQUESTS_OF_ROUND,
  type InputRequest,
  type InputRound,
} from './input.ts';
import { acceptedKinds, kindOf, SAMPLING_PARAMS, schemaOf, type SamplingParams } from './input-kinds.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { LiveCall } from './live-call.ts';

export interface InputRequestsParts {
  readonly lifecycle: Lifecycle;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly schemas: Schemas;
  readonly digest: Digest;
  /** Called once the request is durable. */
  readonly inputRequired: (live: LiveCall) => void;
}

/** The requests of one round. `held`: the attempt waits for the response. */
export interface RequestedInput {
  readonly requests: Readonly<Record<string, InputRequest>>;
  readonly held: boolean;
  readonly carry?: unknown;
}

const MESSAGE_CHARACTERS = 4000;
/** Compiled schemas of requests, by their text. */
const SCHEMAS_KEPT = 256;

/** Records what running tools ask their callers for. */
export class InputRequests {
  readonly #parts: InputRequestsParts;
  readonly #compiled: BoundedMap<string, CompiledSchema> = new BoundedMap(SCHEMAS_KEPT);

  constructor(parts: InputRequestsParts) {
    this.#parts = parts;
  }

  /**
   * Moves an executing call to INPUT_REQUIRED. Throws `ToolFailure` with `input_unavailable` if the caller cannot be
   * asked. False: another move of the call was committed first.
   */
  async record(live: LiveCall, given: RequestedInput): Promise<boolean> {
    const { lifecycle, clock, limits } = this.#parts;
    const { call } = live;
    const problem = this.problem(live, given);
    if (problem !== null) throw new ToolFailure(problem);
    const { state } = call;
    if (state.name !== 'EXECUTING') return false;
    const now = clock.now();
    const expiresAt = now + limits.inputExpiryMs;
    const rounds = this.#rounds(call, given, {
      now,
      expiresAt,
      remainingMs: state.deadlineAt - now,
      attempt: state.attempt,
    });
    const next: CallState = {
      name: 'INPUT_REQUIRED',
      deadlineAt: expiresAt,
      attempt: state.attempt,
      held: given.held,
      ...(state.device === undefined ? {} : { device: state.device }),
    };
    const isRecorded = await lifecycle.advance(live, [next], {
      inputs: [...call.inputs, ...rounds],
      rows: (moved) => rounds.map((round) => inputRequiredRow(moved, round, this.#hashOf(round), now)),
    });
    if (isRecorded) this.#parts.inputRequired(live);
    return isRecorded;
  }

  /** Why the caller cannot be asked for that; null if it can. */
  problem({ call, tool }: LiveCall, { requests, carry }: RequestedInput): Failure | null {
    // The operator has seen what runs: input may change it only if the contract says so.
    if (wasApproved(call) && tool?.annotations.asks_input !== true)
      return unavailable(reason('input_of_approved_call', { tool: call.toolName }));
    if ((call.inputs.at(-1)?.round ?? 0) >= MAX_INPUT_ROUNDS)
      return unavailable(reason('input_rounds_used', { rounds: MAX_INPUT_ROUNDS }));
    const count = Object.keys(requests).length;
    if (count === 0) return invalid(reason('input_request_empty'));
    if (count > MAX_REQUESTS_OF_ROUND)
      return invalid(reason('input_requests_too_many', { count: MAX_REQUESTS_OF_ROUND }));
    if (carry !== undefined && utf8Bytes(JSON.stringify(carry) ?? '') > INPUT_CONTENT_BYTES)
      return invalid(reason('input_carry_too_large', { bytes: INPUT_CONTENT_BYTES }));
    const accepted = acceptedKinds(call.acceptsInput);
    for (const request of Object.values(requests)) {
      const problem = this.#requestProblem(request);
      if (problem !== null) return problem;
      const kind = kindOf(request);
      if (!accepted.includes(kind))
        return unavailable(reason('input_caller_cannot', { tool: call.toolName, kind }));
    }
    return null;
  }

  compiled(schema: NonNullable<InputRound['schema']>): CompiledSchema {
    const text = JSON.stringify(schema);
    const known = this.#compiled.use(text);
    if (known !== undefined) return known;
    const compiled = this.#parts.schemas.compile(schema, 'outside');
    this.#compiled.set(text, compiled);
    return compiled;
  }

  #requestProblem(request: InputRequest): Failure | null {
    const { message, schema, url, sampling, roots } = request;
    if (typeof message !== 'string' || message.trim() === '') return invalid(reason('input_message_missing'));
    if (message.length > MESSAGE_CHARACTERS)
      return invalid(reason('input_message_too_long', { characters: MESSAGE_CHARACTERS }));
    if ([schema, url, sampling, roots].filter((member) => member !== undefined).length > 1)
      return invalid(reason('input_request_mixed'));
    if (sampling !== undefined) return this.#samplingProblem(sampling);
    if (url !== undefined)
      return /^https?:\/\/[^\s]+$/.test(url)
        ? null
        : invalid(reason('input_url_invalid', { url: url.slice(0, 100) }));
    const own = schemaOf(request);
    const compiled = own === null ? null : this.compiled(own);
    if (compiled === null || compiled.ok) return null;
    return invalid(reason('input_schema_invalid', { problem: [compiled.problem] }));
  }

  #samplingProblem(sampling: SamplingParams): Failure | null {
    if (utf8Bytes(JSON.stringify(sampling) ?? '') > INPUT_CONTENT_BYTES)
      return invalid(reason('input_sampling_too_large', { bytes: INPUT_CONTENT_BYTES }));
    const compiled = this.compiled(SAMPLING_PARAMS);
    const issues = compiled.ok ? compiled.validate(sampling) : null;
    if (issues === null) return null;
    const shown = issues
      .slice(0, 3)
      .map((issue) => reason('at_place', { place: `sampling${issue.path}`, problem: problemOf(issue) }));
    return invalid(reason('input_sampling_invalid', { issues: shown }));
  }

  #rounds(
    { inputs }: Call,
    { requests, held, carry }: RequestedInput,
    { now, ...times }: Pick<InputRound, 'expiresAt' | 'remainingMs' | 'attempt'> & { readonly now: number },
  ): InputRound[] {
    const carryJson = JSON.stringify(carry) as string | undefined;
    const round = (inputs.at(-1)?.round ?? 0) + 1;
    return Object.entries(requests).map(([key, request], index) => ({
      id: `in_${inputs.length + index + 1}`,
      key,
      round,
      message: request.message,
      schema: schemaOf(request),
      url: request.url ?? null,
      ...(request.sampling === undefined ? {} : { sampling: jsonCopy(request.sampling) as SamplingParams }),
      ...(request.roots === undefined ? {} : { roots: request.roots }),
      held,
      handlesDecline: request.handlesDecline === true,
      requestedAt: now,
      ...times,
      ...(carryJson === undefined || index > 0 ? {} : { carryJson }),
      response: null,
    }));
  }

  /** Goes into the ledger in place of the texts. */
  #hashOf({ message, schema, url, sampling }: InputRound): string {
    const more = sampling === undefined ? {} : { sampling };
    return this.#parts.digest.sha256(canonicalJson({ message, schema, url, ...more }));
  }
}

function unavailable(why: Reason): Failure {
  return failure('input_unavailable', why);
}

function invalid(why: Reason): Failure {
  return failure('tool_failed', why);
}

/** An operator has seen the call, or granted it in advance. */
function wasApproved({ approval, decision }: Call): boolean {
  return approval !== null || isGrantRule(decision.rule);
}
