import {
  FAILURE_CODES,
  FAILURE_TABLE,
  reason,
  type FailureCode,
  type OutcomeKnowledge,
} from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { PatchboardError } from '@patchboard/client';
import { EXIT, exitCodeOf } from '../cli/exit-codes.ts';
import { ADVICE } from '../sdk/advice.ts';
import { isResult } from '../transports/mcp-server/messages/failures.ts';
import { HTTP_STATUS } from '../transports/shared/routes/problem.ts';
import { ERROR_TYPE } from '../transports/tenant-api/error-types.ts';
import { endFailure, FAILURES, failure, foreignText, isRetryable, ToolFailure } from './failures.ts';
import { failureOfThrown } from './settlement/error-to-failure.ts';

/** Codes that the outcome decides on. The table is written down here a second time on purpose. */
const BY_OUTCOME: readonly FailureCode[] = [
  'timeout',
  'provider_disconnected',
  'provider_offline',
  'interrupted',
  'queue_timeout',
  'queue_full',
  'upstream_unreachable',
  'input_expired',
];

/** A call that ended with one of these must not be made again as it is, whether it started or not. */
const NEVER: readonly FailureCode[] = [
  'tool_not_found',
  'input_invalid',
  'permission_denied',
  'hook_denied',
  'approval_denied',
  'cancelled',
  'output_invalid',
  'result_too_large',
  'result_invalid',
];

const OUTCOMES: readonly OutcomeKnowledge[] = ['unknown', 'not_started'];

const table = FAILURE_CODES.flatMap((code) =>
  OUTCOMES.flatMap((outcome) =>
    [false, true].map((idempotent) => {
      const isSafe = outcome === 'not_started' || idempotent;
      return {
        code,
        outcome,
        idempotent,
        retryable: BY_OUTCOME.includes(code) ? isSafe : FAILURES[code].retryable,
      };
    }),
  ),
);

describe('retryable', () => {
  it.each(table)('of $code, $outcome, idempotent $idempotent, is $retryable', (row) => {
    const { code, outcome, idempotent, retryable } = row;
    expect(isRetryable(code, outcome, idempotent)).toBe(retryable);
    expect(endFailure(code, foreignText('text'), outcome, idempotent)).toMatchObject({ outcome, retryable });
  });

  it.each(FAILURE_CODES)('of %s without an outcome is its own row', (code) => {
    for (const idempotent of [false, true])
      expect(isRetryable(code, undefined, idempotent)).toBe(FAILURES[code].retryable);
  });

  it.each(NEVER)('of %s is false', (code) => {
    expect(FAILURES[code].retryable).toBe(false);
  });

  it('is the word of the tool, unless the tool also names an outcome that decides it', () => {
    const thrown = (extra: Parameters<typeof failure>[2]) =>
      new ToolFailure(failure('upstream_unreachable', foreignText('down'), extra));
    expect(failureOfThrown(thrown({ retryable: false }), true).retryable).toBe(false);
    expect(failureOfThrown(thrown({ outcome: 'unknown', retryable: true }), false).retryable).toBe(false);
    expect(failureOfThrown(thrown({ outcome: 'unknown' }), true).retryable).toBe(true);
    expect(failureOfThrown(thrown({ outcome: 'not_started' }), false).retryable).toBe(true);
    const own = new ToolFailure(failure('tool_failed', foreignText('full'), { retryable: true }));
    expect(failureOfThrown(own, false).retryable).toBe(true);
  });
});

const EXITS = {
  not_found: EXIT.notFound,
  usage: EXIT.usage,
  denied: EXIT.denied,
  timeout: EXIT.timeout,
  unreachable: EXIT.unreachable,
  failed: EXIT.toolFailed,
};

describe('the row of a failure code', () => {
  it.each(FAILURE_CODES)('decides everything about %s but its sentences', (code) => {
    const { status, retryable, kind, tenant, mcp } = FAILURE_TABLE[code];
    const refused = new PatchboardError('problem', 'refused', { code, status });
    expect([HTTP_STATUS[code], FAILURES[code].retryable, ERROR_TYPE[code], exitCodeOf(refused)]).toEqual([
      status,
      retryable,
      tenant,
      EXITS[kind],
    ]);
    expect(isResult(failure(code))).toBe(mcp === 'result' || mcp === 'missing capability');
    expect([FAILURES[code].summary, ADVICE[code].meaning]).not.toContain('');
  });
});

describe('why something failed', () => {
  it('is the message alone where the text has no code, and data beside it where it has one', () => {
    expect(failure('tool_failed', foreignText('boom'))).toEqual({
      code: 'tool_failed',
      message: 'boom',
      retryable: false,
    });
    const why = reason('file_unknown', { path: 'a' });
    expect(failure('tool_failed', why)).toMatchObject({ message: 'no such file: a', reasons: [why] });
    const both = [why, foreignText('EACCES')];
    expect(failure('tool_failed', both)).toMatchObject({ message: 'no such file: a; EACCES', reasons: both });
  });
});
