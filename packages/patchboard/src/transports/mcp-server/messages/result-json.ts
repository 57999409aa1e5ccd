import { SERVER_INFO_META_KEY } from '@modelcontextprotocol/server';
import { VERSION } from '../../../version.ts';
import type { Era } from '../exchange.ts';

export const SERVER_INFO: Readonly<Record<'name' | 'title' | 'version', string>> = {
  name: 'patchboard',
  title: 'Patchboard',
  version: VERSION,
};

const SERVER_META = `${JSON.stringify(SERVER_INFO_META_KEY)}:${JSON.stringify(SERVER_INFO)}`;

/**
 * The JSON text of a result. `members` is JSON text without the braces, so that stored text is inserted without parsing.
 * `meta` is added to `_meta`.
 */
export function resultJson(
  era: Era,
  members: string,
  { type = 'complete', meta = {} }: { type?: string; meta?: Readonly<Record<string, unknown>> } = {},
): string {
  const own = JSON.stringify(meta).slice(1, -1);
  if (era === 'legacy') return join([members, own === '' ? '' : `"_meta":{${own}}`]);
  return join([`"resultType":"${type}"`, members, `"_meta":${join([SERVER_META, own])}`]);
}

/** The JSON text of an object's members. */
export function membersOf(object: object): string {
  return JSON.stringify(object).slice(1, -1);
}

function join(members: readonly string[]): string {
  return `{${members.filter((text) => text !== '').join(',')}}`;
}
