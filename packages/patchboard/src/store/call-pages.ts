import type { Call } from '../core/call/call.ts';
import { inputCharacters } from '../core/call/input.ts';
import type { Page } from '../core/ports.ts';

/** A page ends when its calls exceed this size, to bound the memory of a response. */
export const PAGE_CHARACTERS: number = 8 * 1_048_576;

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
    characters += sizeOf(call);
  }
  return { items, nextCursor: taken < found.length ? (found[taken - 1]?.id ?? null) : null };
}

function sizeOf(call: Call): number {
  const { argsJson, approval, state } = call;
  const result = 'resultJson' in state ? state.resultJson.length : 0;
  return argsJson.length + (approval?.originalArgsJson?.length ?? 0) + result + inputCharacters(call);
}
