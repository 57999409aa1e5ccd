import { callCharacters, PAGE_CHARACTERS } from '../core/call/call-size.ts';
import type { Call } from '../core/call/call.ts';
import type { Page } from '../core/ports.ts';

/** Returns a page of the found calls, newest first: at most `limit`, fewer if they are large. Skips calls for which `read` returns undefined. */
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
    characters += callCharacters(call);
  }
  return { items, nextCursor: taken < found.length ? (found[taken - 1]?.id ?? null) : null };
}
