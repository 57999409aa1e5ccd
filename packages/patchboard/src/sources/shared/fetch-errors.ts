import { messageOf } from '../../core/failures.ts';

/** The request was not sent: its URL, or the address that its host resolves to, is not allowed. */
export class AddressNotAllowed extends Error {
  override readonly name = 'AddressNotAllowed';
}

/** The request was not sent: no connection was made (refused, DNS, TLS, time limit). */
export class CouldNotConnect extends Error {
  override readonly name = 'CouldNotConnect';

  constructor(origin: string, cause: unknown) {
    super(`could not connect to ${origin}: ${connectMessageOf(cause)}`, { cause });
  }
}

/** The request was sent, in whole or in part, and no response arrived. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed';

  constructor(origin: string, cause: unknown) {
    super(`the request to ${origin} got no response: ${messageOf(cause)}`, { cause });
  }
}

/** The response is a redirect that is not followed, or whose target could not be reached. The first request was sent. */
export class RedirectFailed extends Error {
  override readonly name = 'RedirectFailed';
}

/** The body, or one event of an event stream, is larger than the limit. The connection is closed. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';

  constructor(what: 'response' | 'event', maxBytes: number) {
    super(
      `the ${what === 'event' ? 'event of the stream' : 'response body'} is larger than ${maxBytes} bytes`,
    );
  }
}

/** No access token was obtained, so that the request that needs it was not sent, or was refused with 401. */
export class TokenUnavailable extends Error {
  override readonly name = 'TokenUnavailable';
  /** Whether another attempt may succeed. False: the settings or the authorization server must change. */
  readonly mayRetry: boolean;

  constructor(
    message: string,
    { mayRetry, cause }: { readonly mayRetry: boolean; readonly cause?: unknown },
  ) {
    super(`no access token: ${message}`, { cause });
    this.mayRetry = mayRetry;
  }
}

/** Whether the server certainly did not process the request. False: it may have. */
export function isBeforeSend(error: unknown): boolean {
  return (
    error instanceof AddressNotAllowed ||
    error instanceof CouldNotConnect ||
    error instanceof TokenUnavailable
  );
}

/** A host with several addresses fails with one error for each, and an empty message. */
function connectMessageOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.errors.length > 0)
    return [...new Set(cause.errors.map(messageOf))].join('; ');
  return messageOf(cause);
}
