import type { IndexBatch, IndexedCall, IndexedRefusal } from '../../../core/search/call-search.ts';
import { wordsOfArguments } from '../../../core/search/words.ts';
import { int4Array, int8Array, textArray } from '../../../postgres/arrays.ts';
import { STATE_CODES } from '../../state-codes.ts';
import { outcomeCode, storedDurations } from './metric-columns.ts';
import type { MetricRow } from './metric-rows.ts';
import { vectorOf } from './text-vector.ts';

/** Kinds of `indexed_names`; never renumber. */
export const NAME_KINDS = { tool: 0, agent: 1, code: 2 } as const;
export type NameKind = keyof typeof NAME_KINDS;

/** A tool, agent or failure code that occurs in the index, with the latest time of its rows. */
export interface SeenName {
  readonly tenant: string;
  readonly kind: NameKind;
  readonly name: string;
  readonly seenAt: number;
}

/** The parameters of `insertCalls`. */
export function callValues(calls: readonly IndexedCall[]): Buffer[] {
  return [
    int8Array(calls.map(({ createdAt }) => createdAt)),
    int8Array(calls.map(({ endedAt }) => endedAt)),
    int8Array(calls.map(({ waitedMs }) => waitedMs)),
    int8Array(calls.map(({ ranMs }) => ranMs)),
    int4Array(calls.map(({ state }) => STATE_CODES[state])),
    textArray(calls.map(({ id }) => id)),
    textArray(calls.map(({ tenant }) => tenant)),
    textArray(calls.map(({ runId }) => runId)),
    textArray(calls.map(({ agentId }) => agentId)),
    textArray(calls.map(({ toolName }) => toolName)),
    textArray(calls.map(({ clientId }) => clientId)),
    textArray(calls.map(({ code }) => code)),
    textArray(calls.map(({ traceId }) => traceId)),
    textArray(calls.map(({ parentCallId }) => parentCallId)),
    textArray(calls.map(({ argsJson }) => vectorOf(wordsOfArguments(argsJson)))),
  ];
}

/** The parameters of `insertRefusals`. */
export function refusalValues(refusals: readonly IndexedRefusal[]): Buffer[] {
  return [
    int8Array(refusals.map(({ seq }) => seq)),
    int8Array(refusals.map(({ at }) => at)),
    textArray(refusals.map(({ tenant }) => tenant)),
    textArray(refusals.map(({ agentId }) => agentId)),
    textArray(refusals.map(({ toolName }) => toolName)),
    textArray(refusals.map(({ code }) => code)),
    textArray(refusals.map(({ traceId }) => traceId)),
    int8Array(refusals.map(({ unrecorded }) => unrecorded)),
    textArray(refusals.map(({ message }) => message)),
  ];
}

/** The parameters of `addMetrics`. */
export function metricValues(rows: readonly MetricRow[]): Buffer[] {
  const durations = rows.map(storedDurations);
  return [
    int8Array(rows.map(({ widthMs }) => widthMs)),
    int8Array(rows.map(({ at }) => at)),
    textArray(rows.map(({ tenant }) => tenant)),
    textArray(rows.map(({ toolName }) => toolName)),
    textArray(rows.map(({ agentId }) => agentId)),
    int4Array(rows.map(({ outcome }) => outcomeCode(outcome))),
    textArray(rows.map(({ code }) => code ?? '')),
    textArray(durations.map(({ buckets }) => `{${buckets.join(',')}}`)),
    textArray(durations.map(({ counts }) => `{${counts.join(',')}}`)),
  ];
}

/** The parameters of `seeNames`. */
export function nameValues(names: readonly SeenName[]): Buffer[] {
  return [
    textArray(names.map(({ tenant }) => tenant)),
    int4Array(names.map(({ kind }) => NAME_KINDS[kind])),
    textArray(names.map(({ name }) => name)),
    int8Array(names.map(({ seenAt }) => seenAt)),
  ];
}

/**
 * The texts of a refused request are parsed JSON: they may contain the character 0, which PostgreSQL does not store, and half of a
 * surrogate pair, where a name was cut. Two names that become the same in UTF-8 must be the same before they are counted.
 */
export function storable(batch: IndexBatch): IndexBatch {
  const refusals = batch.refusals.map((refusal) => ({
    ...refusal,
    agentId: storableText(refusal.agentId),
    toolName: storableText(refusal.toolName),
    code: storableText(refusal.code),
    message: storableText(refusal.message),
  }));
  return { ...batch, refusals };
}

function storableText(text: string): string {
  return text.replaceAll('\0', '\uFFFD').replaceAll(/\p{Surrogate}/gu, '\uFFFD');
}
