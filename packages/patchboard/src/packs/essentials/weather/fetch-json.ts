import { reason, reasonText, type Reason } from '@patchboard/wire';
import { foreignText, messageOf } from '../../../core/failures.ts';

export type Fetch = typeof globalThis.fetch;

/** Thrown if the service cannot be reached, its response is invalid, or it did not respond in time (`isTimeout`). */
export class ServiceError extends Error {
  readonly why: Reason;
  readonly isTimeout: boolean;

  constructor(why: Reason, isTimeout = false) {
    super(reasonText(why));
    this.name = 'ServiceError';
    this.why = why;
    this.isTimeout = isTimeout;
  }
}

const MAX_BODY_BYTES = 256 * 1024;

/** Sends a GET request and resolves to the parsed JSON. Rejects with a `ServiceError` for any problem. */
export async function fetchJson(fetch: Fetch, url: URL, signal: AbortSignal): Promise<unknown> {
  try {
    // A redirect could lead to any address, including private ones.
    const response = await fetch(url, { signal, redirect: 'error', headers: { accept: 'application/json' } });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new ServiceError(reason('weather_status', { status: response.status }));
    }
    return parse(await readBody(response));
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    // The reason of the signal whose time limit passed. A connection that was not established in time has another name.
    if (error instanceof Error && error.name === 'TimeoutError')
      throw new ServiceError(reason('weather_no_response_in_time'), true);
    throw new ServiceError(foreignText(causeOf(error)));
  }
}

async function readBody(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  // Counts bytes after decompression, to bound a compressed body too. Leaving the loop cancels the stream.
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_BODY_BYTES) {
      throw new ServiceError(reason('weather_response_too_large', { bytes: MAX_BODY_BYTES }));
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ServiceError(reason('weather_response_not_json'));
  }
}

/** Returns the message of the cause: the message of `fetch` itself is only "fetch failed". The cause contains no secret. */
function causeOf(error: unknown): string {
  if (error instanceof Error && error.cause instanceof Error) return messageOf(error.cause);
  return messageOf(error);
}
