import type { InputKind } from '@patchboard/wire';
import type { Call } from '../../../core/call/call.ts';
import { openRequests, type InputRound } from '../../../core/call/input.ts';
import { kindOf } from '../../../core/call/input-kinds.ts';
import { requestJson, type InputRequestJson } from '../../../protocols/mcp/input-requests.ts';
import type { DeclaredClient } from '../client.ts';

/** The key of the request that leads an operator's way to an approval. */
export const APPROVAL_KEY = 'approval';

/** The kinds of input requests that the client can respond to. */
export function kindsOf({
  elicitsForm,
  elicitsUrl,
  samples,
  hasRoots,
}: DeclaredClient): readonly InputKind[] {
  return [
    ...(elicitsForm ? (['form'] as const) : []),
    ...(elicitsUrl ? (['url'] as const) : []),
    ...(samples ? (['sampling'] as const) : []),
    ...(hasRoots ? (['roots'] as const) : []),
  ];
}

/**
 * The open requests of the call by key. A key is never used twice in one call, so a tool that asks again with the same key
 * gets another one here.
 */
export function openByKey(call: Call): ReadonlyMap<string, InputRound> {
  const open = openRequests(call);
  const used = new Set(call.approval === null ? [] : [APPROVAL_KEY]);
  const found = new Map<string, InputRound>();
  for (const round of call.inputs) {
    const key = unusedKey(round, used);
    used.add(key);
    if (open.includes(round)) found.set(key, round);
  }
  return found;
}

function unusedKey({ key, id }: InputRound, used: ReadonlySet<string>): string {
  if (!used.has(key)) return key;
  let other = `${key}.${id}`;
  while (used.has(other)) other += '_';
  return other;
}

/** The open requests that this client can respond to. Servers must not send others. */
export function inputRequestsOf(
  call: Call,
  client: DeclaredClient,
): Readonly<Record<string, InputRequestJson>> {
  const kinds = kindsOf(client);
  const shown = [...openByKey(call)].filter(([, round]) => kinds.includes(kindOf(round)));
  return Object.fromEntries(shown.map(([key, round]) => [key, requestJson(round, `${call.id}.${round.id}`)]));
}
