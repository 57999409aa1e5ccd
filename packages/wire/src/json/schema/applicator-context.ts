import type { JsonSchema } from '../../views.ts';
import type { Check, CheckRun } from './check-run.ts';
import type { JsonObject } from './schema-applicators.ts';
import type { Pattern } from './patterns.ts';

/** Input for building the check of an applicator, a keyword that contains schemas. */
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

/** Runs the check on all items, or up to the first failure if the run stops there. */
export function every<Item>(items: Iterable<Item>, run: CheckRun, check: (item: Item) => boolean): boolean {
  let isValid = true;
  for (const item of items) {
    if (check(item)) continue;
    isValid = false;
    if (run.stopsAtFirst) break;
  }
  return isValid;
}
