import { reason } from '@patchboard/wire';
import {
  InputRequired,
  MAX_INPUT_ROUNDS,
  responseOf,
  type InputRequest,
  type InputResponse,
  type RequestsByKey,
} from '../call/input.ts';
import { kindProblem, type InputChecks } from '../call/input-checks.ts';
import { acceptedKinds, normalizedInput, type AcceptedInput } from '../call/input-kinds.ts';
import { fittingResponse, offeredInputs, type ResponsesByKey } from '../call/offered-inputs.ts';
import { failure, problemOf, ToolFailure, type Failure } from '../failures.ts';
import type { Prompt, ResourceContext } from './resource.ts';

/** What the caller of a prompt can respond to, and the responses that it sends. */
export interface PromptInput {
  /** Default: true, which means forms and links. */
  readonly acceptsInput?: AcceptedInput;
  /** All responses so far, by key. Nothing is stored between two requests. */
  readonly inputs?: ResponsesByKey;
}

/** A prompt needs input: the caller requests it again with the responses. */
export class PromptInputRequired {
  /** The requests without a response that fits. */
  readonly requests: RequestsByKey;
  /** The responses that were used. The caller sends them again with the others. */
  readonly given: ResponsesByKey;

  constructor(requests: RequestsByKey, given: ResponsesByKey) {
    this.requests = requests;
    this.given = given;
  }
}

/**
 * Calls `get` of a prompt; if it returns input requests, again with the responses that fit. Throws `ToolFailure` if the
 * requests are invalid, the caller cannot respond to one, or has declined.
 */
export async function promptWithInput(
  checks: InputChecks,
  prompt: Prompt,
  args: Readonly<Record<string, string>>,
  { context, acceptsInput, inputs = {} }: PromptInput & { readonly context: ResourceContext },
): Promise<unknown> {
  const accepted = normalizedInput(acceptsInput);
  const offered = offeredInputs(inputs);
  const given: Record<string, InputResponse> = {};
  for (let round = 0; round <= MAX_INPUT_ROUNDS; round += 1) {
    const asked = { ...context, inputs: { ...given }, acceptsInputKinds: acceptedKinds(accepted) };
    const returned: unknown = await prompt.get(args, asked);
    if (!(returned instanceof InputRequired)) return returned;
    const { requests } = returned;
    refuse(asPromptFailure(checks.requestsProblem(requests)));
    const open: Record<string, InputRequest> = {};
    for (const [key, request] of Object.entries(requests)) {
      const response = fittingResponse(checks, offered, key, request);
      if (response === null || Object.hasOwn(given, key)) open[key] = request;
      else given[key] = responseOf({ ...response, at: 0 });
      if (response?.action === 'decline' && request.handlesDecline !== true)
        refuse(failure('input_declined'));
    }
    refuse(kindProblem(prompt.name, accepted, Object.values(open)));
    if (Object.keys(open).length > 0) return new PromptInputRequired(open, given);
  }
  throw new ToolFailure(
    failure('input_unavailable', reason('input_rounds_used', { rounds: MAX_INPUT_ROUNDS })),
  );
}

function asPromptFailure(problem: Failure | null): Failure | null {
  return problem === null ? null : failure('resource_failed', problemOf(problem));
}

function refuse(problem: Failure | null): void {
  if (problem !== null) throw new ToolFailure(problem);
}
