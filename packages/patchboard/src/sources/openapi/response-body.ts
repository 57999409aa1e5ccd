import { BodyTooLarge } from '../shared/fetch-errors.ts';

/** Reads a body of at most `maxBytes`. Throws `BodyTooLarge`, or what the stream throws if the connection is lost. */
export async function readBytes(response: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Counts decompressed bytes. Leaving the loop cancels the stream.
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new BodyTooLarge('response', maxBytes);
    chunks.push(chunk);
  }
  return Uint8Array.from(Buffer.concat(chunks));
}

/** Reads the first `maxBytes` of a body, and what arrived of it if the connection is lost. `isCut`: it may have had more. */
export async function readBeginning(
  response: Response,
  maxBytes: number,
): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly isCut: boolean }> {
  const chunks: Uint8Array[] = [];
  let count = 0;
  let isCut = false;
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk);
      count += chunk.byteLength;
      isCut = count >= maxBytes;
      if (isCut) break;
    }
  } catch {
    // The status of the response is known: a part of its text is better than none.
    isCut = true;
  }
  return { bytes: Uint8Array.from(Buffer.concat(chunks).subarray(0, maxBytes)), isCut };
}

/** The media type without parameters, lower case; empty if the response names none. */
export function mediaTypeOf(response: Response): string {
  return (response.headers.get('content-type')?.split(';')[0] ?? '').trim().toLowerCase();
}

/** Decodes text with the charset of the response; with UTF-8 if there is none or it is not known. */
export function decodeText(bytes: Uint8Array, response: Response): string {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(response.headers.get('content-type') ?? '')?.[1];
  try {
    return new TextDecoder(charset ?? 'utf-8').decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
