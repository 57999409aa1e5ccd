import { ToolFailure } from '../../../core/failures.ts';
import type { Failure } from '../../../core/failures.ts';

/** Resolves to the failure of a tool. Rejects if the tool succeeds or throws another error. */
export async function failureOf(result: unknown): Promise<Failure> {
  const error: unknown = await Promise.resolve(result).then(
    (value) => new Error(`it succeeded: ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof ToolFailure) return error.failure;
  throw error;
}
