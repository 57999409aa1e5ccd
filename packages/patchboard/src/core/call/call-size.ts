import type { Call } from './call.ts';
import { inputCharacters } from './input.ts';

/** A page of calls ends when they exceed this size, to bound the memory of a response. */
export const PAGE_CHARACTERS: number = 8 * 1_048_576;

/** Returns the number of characters of the call's values. */
export function callCharacters(call: Call): number {
  const { argsJson, approval, state } = call;
  const result = 'resultJson' in state ? state.resultJson.length : 0;
  return argsJson.length + (approval?.originalArgsJson?.length ?? 0) + result + inputCharacters(call);
}
