import { SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { messageOf } from '../../core/failures.ts';
import { AddressNotAllowed, BodyTooLarge, isBeforeSend } from '../shared/fetch-errors.ts';
import { ConnectionLost, NotStarted, ResponseTooLarge } from './mcp-connection.ts';

type ConnectionError = NotStarted | ConnectionLost | ResponseTooLarge;

/** Finds what the request is known to have met, among an error and its causes; null: nothing is known. */
export function connectionErrorOf(error: unknown): ConnectionError | null {
  for (const one of chainOf(error)) {
    if (one instanceof NotStarted || one instanceof ConnectionLost || one instanceof ResponseTooLarge)
      return one;
    if (one instanceof BodyTooLarge) return new ResponseTooLarge(one.message);
    if (isBeforeSend(one))
      return new NotStarted(one.message, { mayRetry: !(one instanceof AddressNotAllowed) });
  }
  return null;
}

/** What an error of `fetch` means for the request: it counts as not started only where that is certain. */
export function networkError(error: unknown): ConnectionError {
  return connectionErrorOf(error) ?? new ConnectionLost(textOf(error));
}

/** The error of an attempt to connect. `loss` is why the connection ended meanwhile; null: it did not. */
export function connectError(error: unknown, loss: Error | null): NotStarted {
  const known = connectionErrorOf(error) ?? refusalOf(error) ?? connectionErrorOf(loss);
  if (known instanceof NotStarted) return known;
  const failure = new NotStarted(known?.message ?? handshakeFailure(error), { mayRetry: true });
  failure.cause = error;
  return failure;
}

function handshakeFailure(error: unknown): string {
  const seconds = timeoutSecondsOf(error);
  if (seconds !== null) return `no response to the first message within ${seconds} s`;
  const { syscall = '' } = error as NodeJS.ErrnoException;
  const text = syscall.startsWith('spawn') ? 'the command could not be started' : 'the handshake failed';
  return `${text}: ${textOf(error)}`;
}

function timeoutSecondsOf(error: unknown): number | null {
  const timeout = chainOf(error).find(
    (one) => one instanceof SdkError && one.code === SdkErrorCode.RequestTimeout,
  );
  const { timeout: ms } = ((timeout as SdkError | undefined)?.data ?? {}) as { timeout?: number };
  return ms === undefined ? null : ms / 1000;
}

/** The error of a URL that responds, but not as an MCP server does, such as one with a wrong path; null: it is another error. */
function refusalOf(error: unknown): NotStarted | null {
  for (const one of chainOf(error)) {
    if (one instanceof SdkHttpError)
      return notMcp(`the URL responds with HTTP ${one.status}`, { mayRetry: true, status: one.status });
    if (one instanceof SdkError && one.code === SdkErrorCode.ClientHttpUnexpectedContent)
      return notMcp('the URL responds with neither JSON nor an event stream', { mayRetry: true });
  }
  return null;
}

function notMcp(text: string, options: { readonly mayRetry: true; readonly status?: number }): NotStarted {
  return new NotStarted(`${text}: check that it is the URL of an MCP server, with its path`, options);
}

/** The message of the innermost cause: `fetch failed` alone explains nothing. */
export function textOf(error: unknown): string {
  return messageOf(chainOf(error).at(-1) ?? error);
}

function chainOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let next = error; next instanceof Error && chain.length < 10; next = next.cause) chain.push(next);
  return chain;
}
