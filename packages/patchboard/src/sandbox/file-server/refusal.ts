import type { FailureCode } from '@patchboard/wire';

/** Thrown for a request that fails, with the code of its failure. */
export class Refusal extends Error {
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** A parent folder of the path does not exist. */
export class MissingFolder extends Refusal {
  constructor(path: string) {
    super('tool_failed', `no such folder: ${path}`);
  }
}

export function errorCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | null)?.code;
}
