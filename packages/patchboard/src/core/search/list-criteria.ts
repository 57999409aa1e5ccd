import { CALL_STATES, isTerminal, type CallQuery, type CallStateName } from '@patchboard/wire';
import type { Principal } from '../access/principal.ts';
import { narrowedTo } from '../call/visibility.ts';
import type { CallFilter } from '../ports.ts';
import type { CallCriteria, CallSort } from './call-search.ts';

/** What a list of calls is filtered by: all members of both must match. */
export interface WantedCalls {
  readonly filter: Omit<CallFilter, 'tenant' | 'askedOrRunBy'>;
  readonly query: CallQuery;
}

/** Adds what the principal may see. Returns null if no call can match. */
export function criteriaOf(principal: Principal, { filter, query }: WantedCalls): CallCriteria | null {
  const { isRefused, runId: queriedRun, states: _states, since: _since, until: _until, ...rest } = query;
  // A member of the query that is no criterion does not compile: it would match every call.
  const others: Pick<CallCriteria, keyof typeof rest> = rest;
  const seen = narrowedTo(principal);
  const runId = filter.runId ?? queriedRun;
  const states = bothStates(filter.states, query.states);
  const since = later(filter.since, query.since);
  const until = earlier(filter.until, query.until);
  if (isRefused === true || states?.length === 0 || runId !== (queriedRun ?? runId)) return null;
  if (since !== undefined && until !== undefined && since >= until) return null;
  if (seen.agentId !== undefined && seen.agentId !== (filter.agentId ?? seen.agentId)) return null;
  const { toolName, agentId } = filter;
  return {
    ...others,
    ...(toolName === undefined ? {} : { toolName }),
    ...(agentId === undefined ? {} : { agentId }),
    ...seen,
    tenant: principal.tenant,
    ...(runId === undefined ? {} : { runId }),
    ...(states === undefined ? {} : { states }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
}

/** The criteria as a filter of `Store.listCalls`; null if it cannot express them, or sorts in another way. */
export function storeFilter(criteria: CallCriteria, { by, isAscending }: CallSort): CallFilter | null {
  const {
    tools,
    agents,
    codes,
    traceId,
    parentCallId,
    clientId,
    waitedMs,
    ranMs,
    totalMs,
    texts,
    ...filter
  } = criteria;
  // A criterion that is missing here does not compile: the store would ignore it.
  const others: Readonly<Record<Exclude<keyof CallCriteria, keyof CallFilter>, unknown>> = {
    tools,
    agents,
    codes,
    traceId,
    parentCallId,
    clientId,
    waitedMs,
    ranMs,
    totalMs,
    texts,
  };
  const isFilter = Object.values(others).every((other) => other === undefined);
  return by === 'created' && !isAscending && isFilter ? filter : null;
}

/** Whether an open call can match. It has no failure code. */
export function canBeOpen({ states, codes }: CallCriteria): boolean {
  if (codes !== undefined && codes.any.length > 0) return false;
  return states === undefined || !states.every(isTerminal);
}

function bothStates(
  one: readonly CallStateName[] | undefined,
  other: readonly CallStateName[] | undefined,
): readonly CallStateName[] | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return CALL_STATES.filter((state) => one.includes(state) && other.includes(state));
}

function later(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}

function earlier(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}
