import type { EndState } from './call.ts';
import { endState } from './endings.ts';
import { failure, messageOf } from './failures.ts';
import { hookCall, hooksOf, runPostHooks, type Hooks } from './hooks.ts';
import type { Limits } from './limits.ts';
import type { LiveCall } from './live-call.ts';
import { failed, type Outcome } from './outcome.ts';
import type { Clock } from './ports.ts';
import type { RegisteredTool } from './registry.ts';
import { utf8Bytes } from './utf8-bytes.ts';

export interface SettlementParts {
  readonly clock: Clock;
  readonly limits: Limits;
  /** Of the whole server; a tool's and an agent's own come before them. */
  readonly hooks: readonly Hooks[];
}

/**
 * From what a provider produced to what is kept: output schema, hooks, size cap. The same steps for every provider.
 * The state it answers with is not yet committed.
 */
export async function settle(
  parts: SettlementParts,
  live: LiveCall,
  tool: RegisteredTool | undefined,
  outcome: Outcome,
  resultDigest: string | null,
): Promise<EndState> {
  const reviewed = await review(parts, live, tool, checkOutput(tool, outcome));
  return keep(reviewed, parts.limits.resultBytes, resultDigest);
}

/** A result that a hook had at hand: checked like any other, reviewed by none. */
export function settleAtHand(tool: RegisteredTool, value: unknown, resultBytes: number): EndState {
  return keep(checkOutput(tool, { kind: 'ok', value }), resultBytes, null);
}

function keep(outcome: Outcome, resultBytes: number, resultDigest: string | null): EndState {
  if (outcome.kind !== 'ok') return endState(outcome, resultDigest);
  const encoded = encode(outcome.value);
  if (encoded.kind !== 'ok') return endState(encoded, resultDigest);
  if (encoded.json.length * 3 > resultBytes && utf8Bytes(encoded.json) > resultBytes) {
    const message = `the result is larger than ${resultBytes} bytes`;
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

async function review(
  { clock, limits, hooks }: SettlementParts,
  { call, asker }: LiveCall,
  tool: RegisteredTool | undefined,
  outcome: Outcome,
): Promise<Outcome> {
  const all = hooksOf(tool, asker.hooks, hooks);
  if (all.length === 0) return outcome;
  const args = JSON.parse(call.argsJson) as unknown;
  const run = {
    hooks: all,
    call: hookCall(call, tool, args),
    agent: asker.agent,
    clock,
    timeoutMs: limits.hookTimeoutMs,
  };
  const reviewed = await runPostHooks(run, outcome);
  if (!('problem' in reviewed)) return reviewed;
  return failed(
    failure('hook_denied', `the review of the result failed: ${reviewed.problem}`, { outcome: 'unknown' }),
  );
}

function encode(value: unknown): { kind: 'ok'; json: string } | ReturnType<typeof failed> {
  try {
    return { kind: 'ok', json: JSON.stringify(value) ?? 'null' };
  } catch (error) {
    return failed(failure('tool_failed', `the result cannot be written as JSON: ${messageOf(error)}`));
  }
}
