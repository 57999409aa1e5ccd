import type { CallsFilter } from '@patchboard/client';
import {
  CALL_STATES,
  CALL_STATUSES,
  isCallState,
  isCallStatus,
  type CallStateName,
  type CallStatus,
  type CallView,
} from '@patchboard/wire';
import { connect, type CliContext, type ServerOptions } from '../context.ts';
import { UsageError } from '../exit-codes.ts';
import { cell, type Colour } from '../output.ts';

export interface ListFlags extends ServerOptions {
  readonly run?: string;
  readonly tool?: string;
  readonly agent?: string;
  readonly status?: string;
  readonly state?: string;
  readonly since?: string;
  readonly limit: string;
}

const PAGE = 200;

export async function listCalls(context: CliContext, flags: ListFlags): Promise<void> {
  const { output } = context;
  const limit = countOf(flags.limit);
  const calls: CallView[] = [];
  const filter = { ...filterOf(flags), limit: Math.min(limit, PAGE) };
  for await (const call of connect(context, flags).calls(filter)) {
    calls.push(call);
    if (calls.length === limit) break;
  }
  if (flags.json === true) return output.json({ tool_calls: calls });
  if (calls.length === 0) return output.note('no calls');
  // Absent if only one node can use the store.
  const hasNodes = calls.some(({ node }) => node !== undefined);
  output.table(
    [
      { title: 'CREATED' },
      { title: 'ID' },
      { title: 'STATE' },
      ...(hasNodes ? [{ title: 'NODE' }] : []),
      { title: 'WAITED' },
      { title: 'RAN' },
      { title: 'TOTAL' },
      { title: 'TOOL', flexible: true },
      { title: 'RUN', flexible: true },
    ],
    calls.map((call) => [
      timeOf(call.created_at),
      cell(call.tool_call_id),
      output.paint(colourOf(call.state), cell(stateText(call))),
      ...(hasNodes ? [String(call.node ?? '')] : []),
      milliseconds(call.waited_ms),
      milliseconds(call.ran_ms),
      milliseconds(call.duration_ms),
      cell(call.tool_name),
      cell(call.run_id),
    ]),
  );
}

export function timeOf(epochSeconds: number): string {
  return new Date(epochSeconds * 1000).toISOString().replace('T', ' ').replace('.000Z', 'Z');
}

/** Marks an expired approval, whose state is DENIED although no operator denied it. */
export function stateText({ state, error }: CallView): string {
  return error?.code === 'approval_expired' ? `${state} (expired)` : state;
}

export function milliseconds(ms: number | null): string {
  return ms === null ? '' : `${ms} ms`;
}

export function colourOf(state: CallStateName): Colour {
  switch (state) {
    case 'COMPLETED':
      return 'green';
    case 'FAILED':
    case 'TIMED_OUT':
    case 'DENIED':
    case 'SEALED':
      return 'red';
    case 'APPROVAL_REQUIRED':
    case 'INPUT_REQUIRED':
      return 'yellow';
    default:
      return 'dim';
  }
}

function filterOf(flags: ListFlags): CallsFilter {
  return {
    ...(flags.run === undefined ? {} : { runId: flags.run }),
    ...(flags.tool === undefined ? {} : { toolName: flags.tool }),
    ...(flags.agent === undefined ? {} : { agentId: flags.agent }),
    ...(flags.status === undefined ? {} : { status: statusFlag(flags.status) }),
    ...(flags.state === undefined ? {} : { state: stateFlag(flags.state) }),
    ...(flags.since === undefined ? {} : { since: flags.since }),
  };
}

function statusFlag(given: string): CallStatus {
  const status = given.toUpperCase();
  if (isCallStatus(status)) return status;
  throw new UsageError(`--status: "${given}" is not one of ${CALL_STATUSES.join(', ')}`);
}

function stateFlag(given: string): CallStateName {
  const state = given.toUpperCase();
  if (isCallState(state)) return state;
  throw new UsageError(`--state: "${given}" is not one of ${CALL_STATES.join(', ')}`);
}

function countOf(given: string): number {
  const count = Number(given);
  if (Number.isInteger(count) && count > 0) return count;
  throw new UsageError(`--limit: "${given}" is not a whole number above 0`);
}
