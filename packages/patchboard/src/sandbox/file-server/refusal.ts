import type { FailureCode } from '@patchboard/wire';

/** Something that was asked cannot be done; the code says which way. */
export class Refusal extends Error {
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** A folder on the way is not there, so what was to be in it is not either. */
export class MissingFolder extends Refusal {
  constructor(path: string) {
    super('tool_failed', `no such folder: ${path}`);
  }
}

export function errorCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | null)?.code;
}
