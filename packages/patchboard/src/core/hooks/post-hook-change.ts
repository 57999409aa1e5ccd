import { isRecord } from '@patchboard/wire/json';
import { didYouMean } from '../spelling.ts';

/** The change to a result that a `postToolUse` hook returned. */
export type PostHookChange =
  | { readonly kind: 'none' }
  | { readonly kind: 'update' | 'replace'; readonly value: unknown }
  | { readonly kind: 'malformed'; readonly problem: string };

const NAMES = {
  update: ['result', 'content'],
  replace: ['content'],
} as const;

/** Decodes the return value of a `postToolUse` hook. A value in no documented form is malformed, never ignored. */
export function postHookChange(returned: unknown): PostHookChange {
  if (returned === undefined || returned === null) return { kind: 'none' };
  if (!isRecord(returned)) return malformed('its return value must be an object');
  const given = (['update', 'replace'] as const).filter((kind) => returned[kind] !== undefined);
  const [kind] = given;
  if (kind === undefined || given.length > 1)
    return malformed('its return value must have one of update, replace');
  const change = returned[kind];
  if (!isRecord(change)) return malformed(`${kind} must be an object`);
  return changeIn(kind, change);
}

function changeIn(kind: 'update' | 'replace', change: Record<string, unknown>): PostHookChange {
  const known: readonly string[] = NAMES[kind];
  const members = Object.keys(change);
  const unknown = members.find((member) => !known.includes(member));
  if (unknown !== undefined)
    return malformed(`${kind}.${unknown} is not known${didYouMean(unknown, known)}; ${takes(kind)}`);
  const [member] = members;
  if (member === undefined || members.length > 1) return malformed(takes(kind));
  const value = change[member];
  if (value === undefined) return malformed(`${kind}.${member} must not be undefined; null is a value`);
  return { kind, value };
}

function takes(kind: 'update' | 'replace'): string {
  const known: readonly string[] = NAMES[kind];
  return `${kind} must have ${known.length > 1 ? 'one of ' : ''}${known.join(', ')}`;
}

function malformed(problem: string): PostHookChange {
  return { kind: 'malformed', problem: `postToolUse returned a change that is malformed: ${problem}` };
}
