import type { Call } from '../../src/core/call/call.ts';

let made = 0;

export function aCall(given: Partial<Call> = {}): Call {
  made += 1;
  const createdAt = given.createdAt ?? 1_700_000_000_000 + made;
  return {
    id: `tc_${String(made).padStart(26, '0')}`,
    tenant: 'default',
    runId: 'run_1',
    countsInRun: true,
    agentId: 'local',
    toolName: 'toy.echo',
    toolVersion: 'v1',
    source: 'server',
    clientId: null,
    target: null,
    argsJson: '{}',
    argsRedacted: false,
    timeoutMs: 5000,
    sandbox: null,
    traceId: null,
    spanId: null,
    replayOf: null,
    parentCallId: null,
    origin: null,
    acceptsInput: true,
    fence: null,
    createdAt,
    decision: { effect: 'allow', rule: 'default', reason: 'no rule forbids it', policyVersion: 0 },
    version: 0,
    state: { name: 'PENDING', deadlineAt: createdAt + 60_000 },
    approval: null,
    inputs: [],
    timeline: [{ state: 'PENDING', at: createdAt }],
    ...given,
  };
}
