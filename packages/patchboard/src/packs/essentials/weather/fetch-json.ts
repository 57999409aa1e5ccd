import { messageOf } from '../../../core/failures.ts';

export type Fetch = typeof globalThis.fetch;

/** The service could not be asked, or what it said makes no sense. */
export class ServiceTrouble extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ServiceTrouble';
  }
}

const MAX_BODY_BYTES = 256 * 1024;

/** One GET that ends in decoded JSON or in `ServiceTrouble`, whatever the other side does. */
export async function fetchJson(fetch: Fetch, url: URL, signal: AbortSignal): Promise<unknown> {
  try {
    // A redirect would let the service choose the address we ask, private ones included.
    const response = await fetch(url, { signal, redirect: 'error', headers: { accept: 'application/json' } });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new ServiceTrouble(`it answered with status ${response.status}`);
    }
    return parse(await readBody(response));
  } catch (error) {
    if (error instanceof ServiceTrouble) throw error;
    throw new ServiceTrouble(causeOf(error));
  }
}

async function readBody(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  // Counted after decompression, so that a small body cannot unpack into a large one. Leaving the loop cancels.
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_BODY_BYTES) throw new ServiceTrouble(`its answer is larger than ${MAX_BODY_BYTES} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ServiceTrouble('its answer is not JSON');
  }
}

/** `fetch` says only "fetch failed"; the reason is one level down, where it may name an address but no secret. */
function causeOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'it did not answer in time';
  if (error instanceof Error && error.cause instanceof Error) return messageOf(error.cause);
  return messageOf(error);
}
