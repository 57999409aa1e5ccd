import type { EndState } from './call.ts';
import { endState } from './endings.ts';
import { failure, messageOf } from './failures.ts';
import type { Guard } from './guard.ts';
import type { LiveCall } from './live-call.ts';
import { failed, type Outcome } from './outcome.ts';
import type { RegisteredTool } from './registry.ts';
import { utf8Bytes } from './utf8-bytes.ts';

export interface SettlementParts {
  readonly guard: Guard;
  readonly resultBytes: number;
}

/**
 * From what a provider produced to what is kept: output schema, review, size cap. The same steps for every provider.
 * The state it answers with is not yet committed.
 */
export async function settle(
  parts: SettlementParts,
  live: LiveCall,
  tool: RegisteredTool | undefined,
  outcome: Outcome,
  resultDigest: string | null,
): Promise<EndState> {
  const checked = checkOutput(tool, outcome);
  const reviewed = await review(parts.guard, live, checked);
  if (reviewed.kind !== 'ok') return endState(reviewed, resultDigest);
  const encoded = encode(reviewed.value);
  if (encoded.kind !== 'ok') return endState(encoded, resultDigest);
  if (encoded.json.length * 3 > parts.resultBytes && utf8Bytes(encoded.json) > parts.resultBytes) {
    const message = `the result is larger than ${parts.resultBytes} bytes`;
    return endState(failed(failure('result_too_large', message, { outcome: 'unknown' })), resultDigest);
  }
  return { name: 'COMPLETED', resultJson: encoded.json, resultDigest };
}

function checkOutput(tool: RegisteredTool | undefined, outcome: Outcome): Outcome {
  if (outcome.kind !== 'ok' || tool === undefined || tool.validateOutput === null) return outcome;
  const encoded = encode(outcome.value);
  if (encoded.kind !== 'ok') return encoded;
  // What is kept is the JSON, so the JSON is what must fit: a Date, say, is a string by then.
  const value = JSON.parse(encoded.json) as unknown;
  const issues = tool.validateOutput(value);
  if (issues === null) return { kind: 'ok', value };
  const places = issues.map((issue) => `${issue.path === '' ? 'the result' : issue.path} ${issue.message}`);
  const message = `the result does not fit the tool's output schema: ${places.slice(0, 3).join('; ')}`;
  return failed(failure('output_invalid', message));
}

async function review(guard: Guard, live: LiveCall, outcome: Outcome): Promise<Outcome> {
  try {
    return await guard.review(live.call, outcome);
  } catch (error) {
    return failed(
      failure('hook_denied', `the review of the result failed: ${messageOf(error)}`, { outcome: 'unknown' }),
    );
  }
}

function encode(value: unknown): { kind: 'ok'; json: string } | ReturnType<typeof failed> {
  try {
    return { kind: 'ok', json: JSON.stringify(value) ?? 'null' };
  } catch (error) {
    return failed(failure('tool_failed', `the result cannot be written as JSON: ${messageOf(error)}`));
  }
}
