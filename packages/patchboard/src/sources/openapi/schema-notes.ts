import { isRecord, type JsonObject } from '@patchboard/wire/json';

const MAX_EXAMPLES = 3;

/** Returns what a Parameter or Media Type Object says about its value, as keywords of JSON Schema. */
export function notesOf({ description, deprecated, example, examples }: JsonObject): JsonObject {
  const shown = example === undefined ? examplesOf(examples) : [example];
  return {
    ...(typeof description === 'string' && description !== '' ? { description } : {}),
    ...(deprecated === true ? { deprecated } : {}),
    ...(shown.length === 0 ? {} : { examples: shown }),
  };
}

/** Example Objects by name. Those that are references or URLs are left out. */
function examplesOf(examples: unknown): readonly unknown[] {
  return Object.values(isRecord(examples) ? examples : {})
    .flatMap((one) => (isRecord(one) && one['value'] !== undefined ? [one['value']] : []))
    .slice(0, MAX_EXAMPLES);
}
