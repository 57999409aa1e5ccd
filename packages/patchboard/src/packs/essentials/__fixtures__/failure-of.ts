import { ToolFailure } from '../../../core/failures.ts';
import type { Failure } from '../../../core/failures.ts';

/** The failure that a tool ended with; any other ending is thrown. */
export async function failureOf(asked: unknown): Promise<Failure> {
  const error: unknown = await Promise.resolve(asked).then(
    (result) => new Error(`it succeeded: ${JSON.stringify(result)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof ToolFailure) return error.failure;
  throw error;
}
