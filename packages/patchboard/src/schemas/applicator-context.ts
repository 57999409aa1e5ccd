import type { JsonSchema } from '@patchboard/wire';
import type { Check, CheckRun } from './check-run.ts';
import type { JsonObject } from './keywords.ts';
import type { Pattern } from './patterns.ts';

/** What a keyword that holds schemas needs to become a check. */
export interface ApplicatorContext {
  readonly schema: JsonObject;
  readonly compile: (schema: JsonSchema) => Check;
  readonly patternOf: (source: string) => Pattern;
}

export type CheckMaker = (context: ApplicatorContext) => Check;

export type SchemaMap = Readonly<Record<string, JsonSchema>>;

export function checksOf({ schema, compile }: ApplicatorContext, keyword: string): readonly Check[] {
  return (schema[keyword] as readonly JsonSchema[]).map(compile);
}

export function checkOf({ schema, compile }: ApplicatorContext, keyword: string): Check {
  return compile(schema[keyword] as JsonSchema);
}

export function checksByName(
  { schema, compile }: ApplicatorContext,
  keyword: string,
): readonly [string, Check][] {
  return Object.entries(schema[keyword] as SchemaMap).map(([name, member]) => [name, compile(member)]);
}

/** All of them, unless the first failure is enough. */
export function every<Item>(items: Iterable<Item>, run: CheckRun, check: (item: Item) => boolean): boolean {
  let isValid = true;
  for (const item of items) {
    if (check(item)) continue;
    isValid = false;
    if (run.isBrief) break;
  }
  return isValid;
}
