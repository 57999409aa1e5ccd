import { type ContentValue, type InputIssueView, isContentJson, type Reason, reason } from '@patchboard/wire';
import { runPostHooks } from '../hooks/run-hooks.ts';
import type { EndState } from '../call/call.ts';
import { contentProblem, hasContent, orderedContent } from '../call/content.ts';
import { endState, keptFailure } from '../call/end-state.ts';
import { failure, foreignText, messageOf, problemOf, type Failure } from '../failures.ts';
import { hookCall, hooksOf, type Hooks, type OwnedHooks } from '../hooks/hooks.ts';
import type { Limits } from '../limits.ts';
import type { LiveCall } from '../call/live-call.ts';
import { failed, type BadOutcome, type Outcome } from '../call/outcome.ts';
import type { Clock } from '../ports.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';
import { isRecord } from '@patchboard/wire/json';
import { utf8Bytes } from '../json/utf8-bytes.ts';
import { boundedMessage } from './error-to-failure.ts';

export interface SettlementParts {
  readonly clock: Clock;
  readonly limits: Limits;
  /** The board's hooks. Those of the tool and of the agent run before them. */
  readonly hooks: readonly Hooks[];
}

/**
 * Converts a provider's outcome to the end state: output schema, hooks, schema again, a failure that an in-process tool
 * returned, size limit. The returned state is not committed yet.
 */
export function settle(
  parts: SettlementParts,
  live: LiveCall,
  tool: RegisteredTool | undefined,
  outcome: Outcome,
  resultDigest: string | null,
): EndState | Promise<EndState> {
  const { limits } = parts;
  const checked = checkOutput(tool, outcome);
  const reviewers = hooksOf('postToolUse', tool, live.caller.hooks, parts.hooks);
  if (reviewers.length === 0 || checked.outcome.kind !== 'ok')
    return toEndState(tool, unlessReported(tool, checked), limits, resultDigest);
  return review(parts, reviewers, live, tool, checked.outcome).then((reviewed) =>
    // A hook may have changed the result, by its return value or by mutating what it was given.
    toEndState(tool, unlessReported(tool, checkOutput(tool, reviewed, 'hook')), limits, resultDigest),
  );
}

/** Settles a result that a hook or the response cache supplied: checked like any other, but not passed to post hooks. */
export function settleSupplied(tool: RegisteredTool, value: unknown, limits: ResultLimits): EndState {
  return toEndState(tool, unlessReported(tool, checkOutput(tool, { kind: 'ok', value })), limits, null);
}

type ResultLimits = Pick<Limits, 'resultBytes' | 'contentBytes'>;

/** `json`: the value as JSON text, if it was encoded already. */
interface Checked {
  readonly outcome: Outcome;
  readonly json?: string;
}

/** Converts a returned failure of an in-process tool to a failed outcome. The result of a client or device is always data. */
function unlessReported(tool: RegisteredTool | undefined, checked: Checked): Checked {
  const { outcome } = checked;
  if (outcome.kind !== 'ok' || tool?.reportsFailures !== true || !isReportedFailure(outcome.value))
    return checked;
  const encoded = encode(outcome.value);
  return { outcome: encoded.kind === 'ok' ? failed(reportedFailure(outcome.value, encoded.json)) : encoded };
}

/** Whether an in-process tool returned `{ ok: false, … }` or `{ _thrownError: … }` in place of a result. */
function isReportedFailure(value: unknown): value is Record<string, unknown> {
  if (!isRecord(value)) return false;
  try {
    return value['ok'] === false || Boolean(value['_thrownError']);
  } catch {
    // A getter throws: encoding the value as JSON fails too, and reports it.
    return false;
  }
}

/** `json`: the returned value as JSON text. All of it becomes `toolResult`, which the model reads. */
function reportedFailure(value: Record<string, unknown>, json: string): Failure {
  const toolResult = JSON.parse(json) as Record<string, unknown>;
  // JSON.stringify encodes an Error as {}.
  for (const member of ['error', '_thrownError'])
    if (value[member] instanceof Error) toolResult[member] = messageOf(value[member]);
  const recommendations = textsIn(toolResult['recommendations']);
  const message = errorText(toolResult['error']) ?? errorText(toolResult['_thrownError']);
  return failure('tool_failed', message === undefined ? undefined : foreignText(message), {
    ...(recommendations.length === 0 ? {} : { recommendations }),
    toolResult,
  });
}

/** Returns undefined if there is no text, so that the code's default message is used. */
function errorText(error: unknown): string | undefined {
  if (error === undefined || error === null || error === true || error === '') return undefined;
  return boundedMessage(typeof error === 'string' ? error : JSON.stringify(error));
}

function textsIn(given: unknown): readonly string[] {
  return Array.isArray(given) ? given.filter((item) => typeof item === 'string') : [];
}

function toEndState(
  tool: RegisteredTool | undefined,
  { outcome, json }: Checked,
  limits: ResultLimits,
  resultDigest: string | null,
): EndState {
  if (outcome.kind !== 'ok') {
    const kept = keptFailure(outcome.failure, limits.resultBytes);
    return endState({ ...outcome, failure: kept }, resultDigest);
  }
  const encoded: Encoded = json === undefined ? encode(outcome.value) : { kind: 'ok', json };
  if (encoded.kind !== 'ok') return endState(encoded, resultDigest);
  const isContent = isContentJson(encoded.json);
  // A `toJSON` of the value made the content: it was not checked yet.
  if (isContent && json === undefined)
    return toEndState(tool, checkContent(tool, encoded.json, 'tool'), limits, resultDigest);
  const most = isContent ? mostContent(tool, limits) : limits.resultBytes;
  if (encoded.json.length * 3 > most && utf8Bytes(encoded.json) > most) {
    const why = reason('result_over_limit', { bytes: most });
    return endState(failed(failure('result_too_large', why, { outcome: 'unknown' })), resultDigest);
  }
  return { name: 'COMPLETED', resultJson: encoded.json, resultDigest };
}

function mostContent(tool: RegisteredTool | undefined, { resultBytes, contentBytes }: ResultLimits): number {
  return tool?.returnsLargeContent === true ? Math.max(resultBytes, contentBytes) : resultBytes;
}

type ChangedBy = 'tool' | 'hook';

function checkOutput(tool: RegisteredTool | undefined, outcome: Outcome, by: ChangedBy = 'tool'): Checked {
  if (outcome.kind !== 'ok') return { outcome };
  const isContent = hasContent(outcome.value);
  const validate = tool?.validateOutput ?? null;
  if (validate === null && !isContent) return { outcome };
  // The output schema does not apply to a returned failure.
  if (tool?.reportsFailures === true && isReportedFailure(outcome.value)) return { outcome };
  const encoded = encode(outcome.value);
  if (encoded.kind !== 'ok') return { outcome: encoded };
  if (isContent || isContentJson(encoded.json)) return checkContent(tool, encoded.json, by);
  // Validates the JSON copy, because that is what is stored: a Date, for example, is a string there.
  const value = JSON.parse(encoded.json) as unknown;
  const misfit = validate === null ? null : schemaMisfit(validate(value), by);
  return misfit === null ? { outcome: { kind: 'ok', value }, json: encoded.json } : { outcome: misfit };
}

/** Checks the blocks of a content value, and `structured` against the tool's output schema. */
function checkContent(tool: RegisteredTool | undefined, json: string, by: ChangedBy): Checked {
  const given = JSON.parse(json) as Record<string, unknown>;
  const problem = contentProblem(given);
  if (problem !== null) return { outcome: invalidOutput(problem) };
  const value: ContentValue = orderedContent(given);
  const validate = tool?.validateOutput ?? null;
  if (validate !== null && value.structured === undefined)
    return { outcome: invalidOutput(reason('content_structured_missing')) };
  const misfit = validate === null ? null : schemaMisfit(validate(value.structured), by);
  if (misfit !== null) return { outcome: misfit };
  return { outcome: { kind: 'ok', value }, json: isContentJson(json) ? json : JSON.stringify(value) };
}

function schemaMisfit(issues: readonly InputIssueView[] | null, by: ChangedBy): BadOutcome | null {
  if (issues === null) return null;
  const code = by === 'hook' ? 'hook_output_does_not_fit' : 'output_does_not_fit';
  return invalidOutput(reason(code, { issues: issues.slice(0, 3).map(outputIssue) }));
}

function invalidOutput(why: Reason): BadOutcome {
  return failed(failure('output_invalid', why, { outcome: 'unknown' }));
}

function outputIssue(issue: InputIssueView): Reason {
  const { path } = issue;
  const problem = problemOf(issue);
  return path === '' ? reason('whole_output_issue', { problem }) : reason('output_issue', { path, problem });
}

async function review(
  { clock, limits }: SettlementParts,
  hooks: readonly OwnedHooks[],
  { call, caller }: LiveCall,
  tool: RegisteredTool | undefined,
  outcome: Outcome,
): Promise<Outcome> {
  const args = JSON.parse(call.argsJson) as unknown;
  const run = {
    hooks,
    call: hookCall(call, tool, args),
    agent: caller.agent,
    clock,
    timeoutMs: limits.hookTimeoutMs,
  };
  const reviewed = await runPostHooks(run, outcome);
  if (!('problem' in reviewed)) return reviewed;
  return failed(
    failure('hook_denied', reason('result_review_failed', { problem: [reviewed.problem] }), {
      outcome: 'unknown',
    }),
  );
}

type Encoded = { readonly kind: 'ok'; readonly json: string } | ReturnType<typeof failed>;

function encode(value: unknown): Encoded {
  try {
    return { kind: 'ok', json: JSON.stringify(value) ?? 'null' };
  } catch (error) {
    return failed(failure('tool_failed', reason('result_not_json', { error: messageOf(error) })));
  }
}
