import type { Call } from '../core/call/call.ts';
import type { Page } from '../core/ports.ts';

/** What the calls of a page hold together before it ends: an answer must not take all the memory there is. */
const PAGE_CHARACTERS = 8 * 1_048_576;

/** A page of what was found, newest first: up to `limit`, fewer where they are large. `read`: undefined for none. */
export function callPage<Found extends { readonly id: string }>(
  found: readonly Found[],
  limit: number,
  read: (found: Found) => Call | undefined,
): Page<Call> {
  const items: Call[] = [];
  let taken = 0;
  for (let characters = 0; taken < limit && characters < PAGE_CHARACTERS; taken += 1) {
    const next = found[taken];
    if (next === undefined) return { items, nextCursor: null };
    const call = read(next);
    if (call === undefined) continue;
    items.push(call);
    characters += sizeOf(call);
  }
  return { items, nextCursor: taken < found.length ? (found[taken - 1]?.id ?? null) : null };
}

function sizeOf({ argsJson, approval, state }: Call): number {
  const result = 'resultJson' in state ? state.resultJson.length : 0;
  return argsJson.length + (approval?.originalArgsJson?.length ?? 0) + result;
}
