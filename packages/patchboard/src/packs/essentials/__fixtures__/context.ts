import type { ToolContext } from '../../../core/tools/server-tool.ts';

/** A tool context for tests. */
export function aContext(given: Partial<ToolContext> = {}): ToolContext {
  return {
    callId: 'tc_test',
    runId: 'run_test',
    agentId: 'agent_test',
    tenant: 'default',
    origin: null,
    attempt: 1,
    traceparent: null,
    idempotencyKey: 'tc_test',
    signal: new AbortController().signal,
    deadlineAt: Number.MAX_SAFE_INTEGER,
    agent: undefined,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    get sandbox(): never {
      throw new Error('these tools use no sandbox');
    },
    get services(): never {
      throw new Error('these tools use no services');
    },
    acceptsInput: true,
    acceptsInputKinds: ['form', 'url'],
    requestInput: () => Promise.reject(new Error('these tools ask for no input')),
    inputs: {},
    carried: undefined,
    progress: () => undefined,
    emit: () => undefined,
    ...given,
  };
}
