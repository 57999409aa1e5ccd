import type { FailureCode, Reason } from '@patchboard/wire';

/** Thrown for a request that fails. `why` is plain data: this program runs in the sandbox without the wire package. */
export class Refusal extends Error {
  readonly code: FailureCode;
  readonly why: Reason;

  constructor(code: FailureCode, why: Reason) {
    super(why.code);
    this.code = code;
    this.why = why;
  }
}

/** A parent folder of the path does not exist. */
export class MissingFolder extends Refusal {
  constructor(path: string) {
    super('tool_failed', { code: 'folder_unknown', params: { path } });
  }
}

export function errorCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | null)?.code;
}
