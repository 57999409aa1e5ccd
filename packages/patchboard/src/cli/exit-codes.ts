import { NetworkError, PatchboardError, TimeoutError, ToolCallFailed } from '@patchboard/client';
import { byFailureCode, type CallView, type FailureCode } from '@patchboard/wire';

/** The exit codes. They are documented, so the meaning of a number never changes. */
export const EXIT = {
  ok: 0,
  toolFailed: 1,
  usage: 2,
  denied: 3,
  timeout: 4,
  notFound: 5,
  unreachable: 6,
  /** Ctrl-C, by the convention of shells. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The texts for the help and the docs. */
export const EXIT_MEANINGS: Readonly<Record<ExitCode, string>> = {
  0: 'ok',
  1: 'tool failed',
  2: 'usage',
  3: 'denied',
  4: 'timeout',
  5: 'not found',
  6: 'unreachable',
  130: 'interrupted',
};

/** Thrown for an invalid command line. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

const BY_KIND = {
  not_found: EXIT.notFound,
  usage: EXIT.usage,
  denied: EXIT.denied,
  timeout: EXIT.timeout,
  unreachable: EXIT.unreachable,
  failed: EXIT.toolFailed,
} as const;

/** The codes of the server, and one of our own. */
const BY_CODE: Readonly<Record<FailureCode | 'data_folder_in_use', ExitCode>> = {
  ...byFailureCode(({ kind }) => BY_KIND[kind]),
  data_folder_in_use: EXIT.unreachable,
};

export function exitCodeOfCall(call: CallView): ExitCode {
  if (call.status === 'SUCCEEDED') return EXIT.ok;
  if (call.status === 'TIMEOUT') return EXIT.timeout;
  if (call.state === 'DENIED') return EXIT.denied;
  // The call was accepted and recorded, so only its end state counts here.
  return call.error?.code === 'queue_timeout' ? EXIT.timeout : EXIT.toolFailed;
}

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof ToolCallFailed) return exitCodeOfCall(error.call);
  if (error instanceof NetworkError) return EXIT.unreachable;
  // A timeout caused by failed connections means that the server is unreachable.
  if (error instanceof TimeoutError) {
    return error.cause instanceof NetworkError ? EXIT.unreachable : EXIT.timeout;
  }
  if (!(error instanceof PatchboardError)) return EXIT.toolFailed;
  // The response does not come from a Patchboard server.
  if (error.kind === 'bad_response') return EXIT.unreachable;
  return Object.hasOwn(BY_CODE, error.code) ? BY_CODE[error.code as keyof typeof BY_CODE] : EXIT.toolFailed;
}
