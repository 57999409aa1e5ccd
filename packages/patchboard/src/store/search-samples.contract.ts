import type { CallStateName } from '@patchboard/wire';
import type { Call } from '../core/call/call.ts';
import { endedAt } from '../core/call/call.ts';
import { refusedRow, type LedgerDraft } from '../core/ledger/ledger.ts';
import type { IndexBatch, IndexedCall, IndexedRefusal } from '../core/search/call-search.ts';
import { indexedCall } from '../core/search/indexed-rows.ts';
import { aCall, START } from './samples.contract.ts';

const HOUR_MS = 3_600_000;
/** The first sample ends in this hour. */
export const FIRST_HOUR: number = Math.ceil(START / HOUR_MS) * HOUR_MS;

const TOOLS = ['weather.query', 'weather.alerts', 'fs.read', 'fs.delete', 'camera.take', '100%_sure'];
const TEXTS = [
  { city: 'Oslo', note: 'weather in the north\nand "quoted"' },
  { city: '北京', note: '明天下雨吗' },
  { path: '/tmp/Report-2026.pdf', mode: 'read-only' },
  { city: 'Bergen', note: 'north weather, café' },
];
const STATES: readonly CallStateName[] = [
  'COMPLETED',
  'FAILED',
  'COMPLETED',
  'TIMED_OUT',
  'DENIED',
  'CANCELLED',
  'SEALED',
];

export interface EndedTimes {
  readonly waitedMs: number;
  readonly ranMs: number;
  readonly hasRun?: boolean;
}

/** A call that ended in this state, `waitedMs + ranMs` after its creation. */
export function endedCall(
  n: number,
  state: CallStateName,
  { waitedMs, ranMs, hasRun = true }: EndedTimes,
  given: Partial<Call> = {},
): Call {
  const call = aCall(n, given);
  const { createdAt } = call;
  const code = state === 'TIMED_OUT' ? 'timeout' : 'tool_failed';
  const end = state === 'COMPLETED' ? { state } : { state, code };
  return {
    ...call,
    state: (state === 'COMPLETED'
      ? { name: state, resultJson: '{}', resultDigest: null }
      : {
          name: state,
          error: { code, message: 'it broke', retryable: false },
          resultDigest: null,
        }) as Call['state'],
    timeline: [
      { state: 'PENDING', at: createdAt },
      ...(hasRun ? [{ state: 'EXECUTING', at: createdAt + waitedMs, attempt: 1 } as const] : []),
      { ...end, at: createdAt + waitedMs + ranMs } as Call['timeline'][number],
    ],
  };
}

/** Ended calls that differ in all that criteria can select, spread over three hours, with different periods. */
export function endedCalls(count: number): Call[] {
  return Array.from({ length: count }, (_, index) => {
    const n = index + 1;
    const state = STATES[index % STATES.length]!;
    const hasRun = state !== 'DENIED';
    const times = { waitedMs: (index * 37) % 900, ranMs: hasRun ? (index * index * 13) % 50_000 : 0, hasRun };
    return endedCall(n, state, times, {
      createdAt: FIRST_HOUR + Math.floor((index * 3 * HOUR_MS) / count),
      tenant: index % 9 === 0 ? 'other' : 'acme',
      agentId: index % 2 === 0 ? 'planner' : `worker-${index % 3}`,
      clientId: index % 4 === 0 ? `phone-${index % 3}` : null,
      runId: `run_${index % 6}`,
      toolName: TOOLS[(index * 5) % TOOLS.length]!,
      traceId: index % 10 === 0 ? 'a'.repeat(32) : null,
      parentCallId: index % 11 === 0 ? 'tc_00000001' : null,
      argsJson: JSON.stringify(TEXTS[index % TEXTS.length]),
    });
  });
}

/** Ledger rows of refused requests, one per minute. */
export function refusedRows(count: number): LedgerDraft[] {
  return Array.from({ length: count }, (_, index) =>
    refusedRow(
      {
        tenant: index % 5 === 0 ? 'other' : 'acme',
        toolName: TOOLS[index % TOOLS.length]!,
        agentId: index % 2 === 0 ? 'planner' : 'intruder',
        traceId: index % 3 === 0 ? 'b'.repeat(32) : null,
        origin: null,
        code: index % 4 === 0 ? 'rate_limited' : 'permission_denied',
        message: `no ${index}`,
        argsHash: 'h',
        unrecorded: index % 4 === 0 ? index : 0,
      },
      FIRST_HOUR + index * 60_000,
    ),
  );
}

/** What the calls and refusals add to an index, as one batch after row `from`. */
export function aBatch(
  from: number,
  calls: readonly Call[],
  refusals: readonly IndexedRefusal[] = [],
): IndexBatch {
  const to = from + calls.length + refusals.length;
  const position = { seq: to, hash: `hash ${to}` };
  return { from, to: position, calls: calls.map(indexedSample), refusals, hasMore: false };
}

export function aRefusal(seq: number, given: Partial<IndexedRefusal> = {}): IndexedRefusal {
  return {
    seq,
    at: START + seq,
    tenant: 'acme',
    agentId: 'planner',
    toolName: 'fs.delete',
    code: 'permission_denied',
    message: 'no',
    traceId: null,
    unrecorded: 0,
    ...given,
  };
}

function indexedSample(call: Call): IndexedCall {
  const indexed = indexedCall(call);
  if (indexed === null) throw new Error('the sample call has not ended');
  return indexed;
}

export function timesOfSample(call: Call): { waited: number; ran: number; total: number; hasRun: boolean } {
  const end = endedAt(call)!;
  const start = call.timeline.find(({ state }) => state === 'EXECUTING')?.at;
  return {
    waited: (start ?? end) - call.createdAt,
    ran: end - (start ?? end),
    total: end - call.createdAt,
    hasRun: start !== undefined,
  };
}
