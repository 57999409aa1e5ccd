import type { CallsFilter } from '@patchboard/client';
import {
  CALL_STATES,
  CALL_STATUSES,
  isCallStatus,
  isExpiredName,
  isRefusedName,
  queryTerm,
  queryTerms,
  reason,
  reasonText,
  STATE_GROUP_NAMES,
  statesNamed,
  type CallStatus,
} from '@patchboard/wire';
import { pastMoment } from '../duration.ts';
import { UsageError } from '../exit-codes.ts';
import type { ListFlags } from './calls-list.ts';

export function filterOf(flags: ListFlags, now: number): CallsFilter {
  const { run, tool, agent, status, state, since, until, sort, order } = flags;
  return {
    ...(run === undefined ? {} : { runId: run }),
    ...(tool === undefined ? {} : { toolName: tool }),
    ...(agent === undefined ? {} : { agentId: agent }),
    ...(status === undefined ? {} : { status: statusFlag(status) }),
    ...(state === undefined ? {} : stateFilter(state)),
    ...(since === undefined ? {} : { since: pastMoment('--since', since, now) }),
    ...(until === undefined ? {} : { until: pastMoment('--until', until, now) }),
    ...(sort === undefined ? {} : { sort }),
    ...(order === undefined ? {} : { order }),
  };
}

function statusFlag(given: string): CallStatus {
  const status = given.toUpperCase();
  if (isCallStatus(status)) return status;
  throw new UsageError(`--status: "${given}" is not one of ${CALL_STATUSES.join(', ')}`);
}

/** What `--state` takes. */
export const STATE_NAMES: readonly string[] = [
  ...CALL_STATES,
  ...STATE_GROUP_NAMES.map((name) => name.toUpperCase()),
];

/** A group of states, such as `open`, is a term of the query; refused requests are another list. */
function stateFilter(given: string): Pick<CallsFilter, 'state'> {
  if (isRefusedName(given)) return {};
  const [state, ...others] = statesNamed(given) ?? [];
  if (state !== undefined) return others.length === 0 ? { state } : {};
  if (isExpiredName(given)) throw new UsageError(`--state: ${reasonText(reason('query_state_expired'))}`);
  throw new UsageError(`--state: "${given}" is not one of ${STATE_NAMES.join(', ')}`);
}

export function groupTerm(state: string | undefined): readonly string[] {
  if (state === undefined || (statesNamed(state) ?? []).length < 2) return [];
  return [queryTerm('state', [state])];
}

/** The columns that the query, the filters and the order name: these stay on a narrow terminal. */
export function namedColumns(query: string, flags: ListFlags): ReadonlySet<string> {
  const keys: readonly (string | null)[] = queryTerms(query).map(({ key }) => key);
  const filters = (['agent', 'run', 'since', 'until'] as const).filter((name) => flags[name] !== undefined);
  return new Set([...keys, ...filters, flags.sort].flatMap((key) => COLUMN_OF.get(key ?? '') ?? []));
}

const COLUMN_OF: ReadonlyMap<string, string> = new Map([
  ['agent', 'AGENT'],
  ['run', 'RUN'],
  ['since', 'CREATED'],
  ['until', 'CREATED'],
  ['created', 'CREATED'],
  ['waited', 'WAITED'],
  ['ran', 'RAN'],
  ['total', 'TOTAL'],
]);
