import { PatchboardError, type PatchboardClient } from '@patchboard/client';
import { queryTerm, type CallQuery } from '@patchboard/wire';

type QueriedIds = Pick<CallQuery, 'runId' | 'traceId' | 'parentCallId'>;

/** Rejects if a list is empty because an id that it is filtered by is unknown. */
export async function requireKnownIds(
  client: PatchboardClient,
  { runId, traceId, parentCallId }: QueriedIds,
): Promise<void> {
  if (runId !== undefined) await client.runs.get(runId);
  if (parentCallId !== undefined) await client.get(parentCallId);
  if (traceId !== undefined && !(await hasTrace(client, traceId))) throw unknownId('trace', traceId);
}

/** The error of an id that a request could not report, because it only filters a list. */
export function unknownId(kind: string, id: string, advice = ''): PatchboardError {
  return new PatchboardError('problem', `there is no ${kind} "${id}"${advice}`, { code: 'value_not_found' });
}

export function adviceOnTenant({ tenant }: { readonly tenant?: string }): string {
  return tenant === undefined ? '; for another tenant, use --tenant' : '';
}

/** True also while the index is behind the store. A trace may consist of refused requests only, which made no call. */
export async function hasTrace(client: PatchboardClient, id: string): Promise<boolean> {
  const filter = { query: queryTerm('trace', [id]), limit: 1 };
  const calls = await client.calls(filter).page();
  if (calls.items.length > 0 || calls.complete === false) return true;
  const refused = await client.refusedCalls(filter).page();
  return refused.items.length > 0 || refused.complete === false;
}
