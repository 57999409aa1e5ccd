import { reason, type Reason } from '@patchboard/wire';
import { z } from 'zod';
import { failure, foreignText, ToolFailure } from '../core/failures.ts';
import type { ZodSchema } from './zod-schema.ts';

/** Makes the reason of a failure from the first problem and its place, a JSON pointer. */
type ReasonOf = (path: string, problem: Reason) => Reason;

/**
 * The engine has validated the JSON; zod fills in defaults and checks what JSON Schema cannot express. The parser throws
 * `ToolFailure` with `input_invalid`. It parses synchronously where possible; after the first failure to do so, always
 * asynchronously.
 */
export function zodParser(schema: ZodSchema, reasonOf: ReasonOf): (value: unknown) => unknown {
  let isAsync = false;
  const dataOf = (parsed: z.core.util.SafeParseResult<unknown>): unknown => {
    if (parsed.success) return parsed.data;
    throw invalid(parsed.error.issues, reasonOf);
  };
  return (value) => {
    if (isAsync) return z.core.safeParseAsync(schema, value).then(dataOf);
    try {
      return dataOf(z.core.safeParse(schema, value));
    } catch (error) {
      if (error instanceof ToolFailure) throw error;
      // Any other error may mean an async schema: another copy of zod throws its own error class for that.
      isAsync = true;
      return z.core.safeParseAsync(schema, value).then(dataOf);
    }
  };
}

function invalid(found: readonly z.core.$ZodIssue[], reasonOf: ReasonOf): ToolFailure {
  const issues = found.map(({ path, message }) => ({
    path: path.map((key) => `/${String(key)}`).join(''),
    message,
  }));
  const [first] = issues;
  const problem = first === undefined ? reason('arguments_mismatch') : foreignText(first.message);
  return new ToolFailure(failure('input_invalid', reasonOf(first?.path ?? '', problem), { issues }));
}
