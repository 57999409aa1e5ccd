import type { MsRange } from '@patchboard/wire';
import type { CallFilter } from '../ports.ts';
import type { CallCriteria, IndexedCall, IndexedRefusal, RefusalCriteria } from './call-search.ts';
import { matchesNames } from './name-patterns.ts';
import { containsPhrase, wordsOf, wordsOfArguments } from './words.ts';

/** A call as criteria see it. An open call has no durations, so that no range of durations matches it. */
export interface SearchedCall extends Omit<IndexedCall, 'endedAt' | 'waitedMs' | 'ranMs' | 'hasRun'> {
  readonly waitedMs: number | null;
  readonly ranMs: number | null;
}

export function matchesCriteria(call: SearchedCall, criteria: CallCriteria): boolean {
  const { tools, agents, codes, traceId, parentCallId, clientId } = criteria;
  return (
    matchesFilter(call, criteria) &&
    (tools === undefined || matchesNames(tools, call.toolName)) &&
    (agents === undefined || matchesNames(agents, call.agentId)) &&
    (codes === undefined || matchesNames(codes, call.code)) &&
    (traceId === undefined || call.traceId === traceId) &&
    (parentCallId === undefined || call.parentCallId === parentCallId) &&
    (clientId === undefined || call.clientId === clientId) &&
    matchesDurations(call, criteria) &&
    matchesTexts(call, criteria.texts ?? [])
  );
}

function matchesFilter(call: SearchedCall, filter: CallFilter): boolean {
  const { tenant, runId, toolName, agentId, askedOrRunBy, states, since, until } = filter;
  return (
    call.tenant === tenant &&
    (runId === undefined || call.runId === runId) &&
    (toolName === undefined || call.toolName === toolName) &&
    (agentId === undefined || call.agentId === agentId) &&
    (askedOrRunBy === undefined || isParty(call, askedOrRunBy)) &&
    (states === undefined || states.includes(call.state)) &&
    (since === undefined || call.createdAt >= since) &&
    (until === undefined || call.createdAt < until)
  );
}

function isParty(
  call: SearchedCall,
  { agentId, clientId }: NonNullable<CallFilter['askedOrRunBy']>,
): boolean {
  return call.agentId === agentId || (clientId !== null && call.clientId === clientId);
}

function matchesDurations({ waitedMs, ranMs }: SearchedCall, criteria: CallCriteria): boolean {
  const totalMs = waitedMs === null || ranMs === null ? null : waitedMs + ranMs;
  return isIn(criteria.waitedMs, waitedMs) && isIn(criteria.ranMs, ranMs) && isIn(criteria.totalMs, totalMs);
}

function isIn(range: MsRange | undefined, ms: number | null): boolean {
  if (range === undefined) return true;
  return ms !== null && ms >= (range.atLeast ?? -Infinity) && ms < (range.below ?? Infinity);
}

function matchesTexts({ argsJson }: SearchedCall, texts: readonly string[]): boolean {
  if (texts.length === 0) return true;
  const words = wordsOfArguments(argsJson);
  return texts.every((text) => containsPhrase(words, wordsOf(text)));
}

export function matchesRefusal(refusal: IndexedRefusal, criteria: RefusalCriteria): boolean {
  const { tenant, agentId, tools, agents, codes, traceId, since, until } = criteria;
  return (
    refusal.tenant === tenant &&
    (agentId === undefined || refusal.agentId === agentId) &&
    (tools === undefined || matchesNames(tools, refusal.toolName)) &&
    (agents === undefined || matchesNames(agents, refusal.agentId)) &&
    (codes === undefined || matchesNames(codes, refusal.code)) &&
    (traceId === undefined || refusal.traceId === traceId) &&
    (since === undefined || refusal.at >= since) &&
    (until === undefined || refusal.at < until)
  );
}
