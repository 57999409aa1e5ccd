import { CALL_STATES, reason, type CallStateName } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { aCall } from '../../../../test/support/a-call.ts';
import type { Call } from '../../../core/call/call.ts';
import type { InputRound } from '../../../core/call/input.ts';
import { failure } from '../../../core/failures.ts';
import { UNKNOWN_CLIENT, type DeclaredClient } from '../client.ts';
import type { Exchange } from '../exchange.ts';
import { DEFAULT_MCP_SETTINGS } from '../mcp-settings.ts';
import { taskMembers } from './task-view.ts';

function exchangeOf(client: Partial<DeclaredClient>, agentId = 'local'): Exchange {
  const settings = { ...DEFAULT_MCP_SETTINGS, keepCallsMs: 5000 };
  const parts = { settings, origin: 'http://host', client: { ...UNKNOWN_CLIENT, ...client } };
  return {
    ...parts,
    principal: { agentId },
    context: { engine: { tool: () => undefined } },
  } as unknown as Exchange;
}

function viewOf(
  call: Call,
  client: Partial<DeclaredClient> = {},
  agentId = 'local',
): Record<string, unknown> {
  return JSON.parse(`{${taskMembers(exchangeOf(client, agentId), call)}}`) as Record<string, unknown>;
}

const deadlineAt = 1_700_000_100_000;
const attempt = 2;
const ended = (name: 'FAILED' | 'TIMED_OUT' | 'DENIED' | 'CANCELLED' | 'SEALED', code = 'tool_failed') =>
  ({ name, error: failure(code as 'tool_failed'), resultDigest: null }) as const;

const ROUND: InputRound = {
  id: 'in_1',
  key: 'city',
  round: 1,
  message: 'Which city?',
  schema: { type: 'object' },
  url: null,
  held: true,
  attempt: 1,
  handlesDecline: false,
  requestedAt: 0,
  expiresAt: deadlineAt,
  remainingMs: 1,
  response: null,
};
const ASKED = {
  state: { name: 'INPUT_REQUIRED', deadlineAt, attempt, held: true },
  inputs: [ROUND],
} as const;
const APPROVAL = { reason: 'destructive' } as Call['approval'];

/** Whatever the client can do. */
const ROWS: Readonly<Record<CallStateName, readonly [Partial<Call>, Record<string, unknown>]>> = {
  PENDING: [
    { state: { name: 'PENDING', deadlineAt } },
    { status: 'working', statusMessage: 'waits for a free slot', pollIntervalMs: 1000 },
  ],
  APPROVED: [{ state: { name: 'APPROVED', deadlineAt } }, { status: 'working' }],
  EXECUTING: [
    { state: { name: 'EXECUTING', deadlineAt, attempt, cause: null, device: 'phone' } },
    { status: 'working', statusMessage: 'attempt 2 on device phone' },
  ],
  APPROVAL_REQUIRED: [
    { state: { name: 'APPROVAL_REQUIRED', deadlineAt }, approval: APPROVAL },
    {
      status: 'working',
      statusMessage: expect.stringMatching(
        /^waits for approval at http:\/\/host\/ui\/approvals\?id=/,
      ) as string,
      pollIntervalMs: 5000,
    },
  ],
  INPUT_REQUIRED: [ASKED, { status: 'working', statusMessage: 'waits for input from its caller' }],
  COMPLETED: [
    { state: { name: 'COMPLETED', resultJson: '{"a":1}', resultDigest: null } },
    {
      status: 'completed',
      result: { resultType: 'complete', structuredContent: { a: 1 }, isError: false },
    },
  ],
  FAILED: [
    { state: ended('FAILED') },
    { status: 'completed', result: { resultType: 'complete', isError: true } },
  ],
  TIMED_OUT: [{ state: ended('TIMED_OUT', 'timeout') }, { status: 'completed', result: { isError: true } }],
  DENIED: [{ state: ended('DENIED', 'approval_denied') }, { status: 'completed', result: { isError: true } }],
  SEALED: [{ state: ended('SEALED', 'interrupted') }, { status: 'completed', result: { isError: true } }],
  CANCELLED: [{ state: ended('CANCELLED', 'cancelled') }, { status: 'cancelled' }],
};

describe('the task of a call', () => {
  it.each(CALL_STATES)('in the state %s', (name) => {
    const [given, expected] = ROWS[name];
    const call = aCall(given);
    const view = viewOf(call);
    expect(view).toMatchObject({ taskId: call.id, ttlMs: 5000, ...expected });
    if (view['status'] !== 'completed') expect(view).not.toHaveProperty('result');
    expect(view).not.toHaveProperty('inputRequests');
  });

  it('that asks for what the client can give', () => {
    expect(viewOf(aCall(ASKED), { elicitsForm: true })).toMatchObject({
      status: 'input_required',
      inputRequests: { city: { method: 'elicitation/create', params: { mode: 'form' } } },
    });
  });

  it.each([ASKED, ROWS.APPROVAL_REQUIRED[0]])(
    'asks its caller only, not an operator that reads it',
    (given) => {
      const view = viewOf(aCall(given), { elicitsForm: true, elicitsUrl: true }, 'operator');
      expect(view['status']).toBe('working');
      expect(view).not.toHaveProperty('inputRequests');
    },
  );

  it('that has its responses waits for a slot', () => {
    const response = { action: 'accept', contentJson: '{}', at: 1 } as const;
    const call = aCall({ ...ASKED, inputs: [{ ...ROUND, response }] });
    expect(viewOf(call, { elicitsForm: true })).toMatchObject({ status: 'working' });
  });

  it('that needs an approval is a link for a client that can show one', () => {
    const [given] = ROWS.APPROVAL_REQUIRED;
    expect(viewOf(aCall(given), { elicitsUrl: true })).toMatchObject({
      status: 'input_required',
      inputRequests: { approval: { params: { mode: 'url' } } },
    });
  });

  it.each([
    ['a fault of the server', failure('internal'), -32_603, undefined],
    [
      'input that the client cannot give',
      failure('input_unavailable', reason('input_caller_cannot', { tool: 't', kind: 'sampling' })),
      -32_021,
      { sampling: {} },
    ],
  ])('has failed by %s', (_what, error, code, requiredCapabilities) => {
    const view = viewOf(aCall({ state: { name: 'FAILED', error, resultDigest: null } }));
    expect(view).toMatchObject({ status: 'failed', error: { code } });
    const { data } = view['error'] as { data: { requiredCapabilities?: unknown } };
    expect(data.requiredCapabilities).toEqual(requiredCapabilities);
    expect(view).not.toHaveProperty('result');
  });
});
