import { failure } from '../../packages/patchboard/src/core/failures.ts';
import type { Call, EndState } from '../../packages/patchboard/src/core/call/call.ts';

const AGENTS = 10;
const FAILED_EVERY = 10;
const CODES = ['tool_failed', 'upstream_unreachable', 'output_invalid', 'provider_disconnected'] as const;
const MOST_MS = 2000;

/** What differs between the calls of a server that several agents use. */
export interface VariedCall extends Pick<Call, 'toolName' | 'agentId' | 'traceId'> {
  /** Null: it completed. */
  readonly failed: EndState | null;
  readonly ranMs: number;
}

/** The call with this index, in a run with this number; a run is one trace of one agent. */
export function variedCall(index: number, run: number, tools: readonly string[]): VariedCall {
  const code = CODES[Math.floor(index / FAILED_EVERY) % CODES.length] ?? CODES[0];
  const isFailed = index % FAILED_EVERY === FAILED_EVERY - 1;
  return {
    toolName: tools[index % tools.length] ?? '',
    agentId: `agent_${run % AGENTS}`,
    traceId: traceOfRun(run),
    failed: isFailed ? { name: 'FAILED', error: failure(code), resultDigest: null } : null,
    ranMs: (index * 7919) % MOST_MS,
  };
}

export function traceOfRun(run: number): string {
  return (run + 1).toString(16).padStart(32, '0');
}
