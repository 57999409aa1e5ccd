import { reason, WIRE_LIMITS } from '@patchboard/wire';
import type { Principal } from '../access/principal.ts';
import { failure } from '../failures.ts';
import type { Result } from '../result.ts';
import type { PackReads } from './pack-reads.ts';
import { unknownArgument } from './prompt-arguments.ts';
import type { Completer } from './resource.ts';

export interface CompletionRequest {
  readonly of: { readonly prompt: string } | { readonly resourceTemplate: string };
  /** The argument or variable. */
  readonly name: string;
  /** What was typed so far. */
  readonly value: string;
  /** The other arguments or variables as far as they are known. */
  readonly arguments?: Readonly<Record<string, string>>;
}

export interface Completion {
  /** At most 100. */
  readonly values: readonly string[];
  readonly total: number;
  readonly hasMore: boolean;
}

export interface CompletedArgument {
  readonly known: readonly string[];
  readonly complete: Completer | undefined;
}

const NO_VALUES: Completion = { values: [], total: 0, hasMore: false };

export async function completion(
  reads: PackReads,
  principal: Principal,
  signal: AbortSignal | undefined,
  given: { readonly argument: CompletedArgument; readonly request: CompletionRequest },
): Promise<Result<Completion>> {
  const { known, complete } = given.argument;
  const { name, value, arguments: others = {} } = given.request;
  if (!known.includes(name)) return { ok: false, failure: unknownArgument(name, known) };
  if (complete === undefined) return { ok: true, value: NO_VALUES };
  const found = await reads.run(principal, signal, (context) =>
    complete(value, { ...context, arguments: others }),
  );
  if (!found.ok) return found;
  const values: unknown = found.value;
  if (!isTexts(values))
    return { ok: false, failure: failure('resource_failed', reason('completion_values_invalid')) };
  const unique = [...new Set(values)];
  const first = unique.slice(0, WIRE_LIMITS.completionValues);
  return { ok: true, value: { values: first, total: unique.length, hasMore: unique.length > first.length } };
}

function isTexts(values: unknown): values is readonly string[] {
  return Array.isArray(values) && values.every((value) => typeof value === 'string');
}
