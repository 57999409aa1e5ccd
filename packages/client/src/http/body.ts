import { PatchboardError } from '../errors.ts';
import { orAbort, throwIfAborted, type Bounds } from './abort.ts';
import { guardAttempt, type Guard } from './guard.ts';
import { headOf, prepare, type HttpRequest } from './http.ts';
import type { Settings } from './options.ts';
import { badResponse, errorOf, type RawResponse } from './problem.ts';
import type { BodyReader, FetchResponse } from './runtime.ts';

/** A request whose response body is streamed. */
export interface BodyRequest {
  /** Default: GET. */
  readonly method?: 'POST';
  readonly path: string;
  /** Time until the response begins. Default: the client's `requestTimeoutMs`. */
  readonly timeoutMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The required content type, and the name of the content for error messages. */
  readonly contentType: string;
  readonly name: string;
  /** If fetch cannot stream: whether to throw instead of reading the body in one piece. */
  readonly mustStream: boolean;
}

export interface ResponseHead extends Omit<RawResponse, 'text'> {
  header(name: string): string | null;
}

/** Yields the response head of a successful response, then the body text in chunks. */
export async function* readBody(
  settings: Settings,
  wanted: BodyRequest,
  bounds: Bounds,
): AsyncGenerator<ResponseHead | string, void, undefined> {
  const text = new TextDecoder();
  for await (const piece of readBytes(settings, wanted, bounds)) {
    yield isBytes(piece) ? text.decode(piece, { stream: true }) : piece;
  }
}

/** Also true for bytes of another realm, such as those that `fetch` of a page gives to a frame. */
export function isBytes(piece: ResponseHead | Uint8Array | string): piece is Uint8Array {
  return ArrayBuffer.isView(piece);
}

/** Like `readBody`, with the bytes of the body; as text only if fetch cannot stream. */
export async function* readBytes(
  settings: Settings,
  wanted: BodyRequest,
  bounds: Bounds,
): AsyncGenerator<ResponseHead | Uint8Array | string, void, undefined> {
  throwIfAborted(bounds.signal);
  const { method = 'GET', path, contentType } = wanted;
  const headers = { ...wanted.headers, accept: `${contentType}, application/problem+json` };
  const what: HttpRequest = { method, path, headers, repeat: method === 'GET' ? 'safe' : 'unsafe' };
  const prepared = await prepare(settings, what);
  const guard = guardAttempt(settings, bounds);
  let reader: BodyReader | undefined;
  try {
    guard.arm(wanted.timeoutMs ?? settings.requestTimeoutMs);
    const response = await opened(
      settings.fetch(prepared.url, { ...prepared.init, signal: guard.signal }),
      guard,
    );
    const head: ResponseHead = {
      ...headOf(settings, what, response),
      header: (name) => response.headers.get(name),
    };
    await checkResponse(response, head, wanted, guard);
    reader = response.body?.getReader();
    guard.disarm();
    yield head;
    yield* chunksOf(response, reader, settings, guard);
  } catch (error) {
    throw guard.explain(error);
  } finally {
    // Also runs when the consumer stops iterating; the connection must not stay open.
    reader?.cancel().catch(() => undefined);
    guard.dispose();
  }
}

/** A fetch that ignores the signal may open the stream after the abort; such a stream is closed at once. */
async function opened(fetched: Promise<FetchResponse>, guard: Guard): Promise<FetchResponse> {
  try {
    return await orAbort(fetched, guard.signal);
  } catch (error) {
    fetched.then((late) => late.body?.getReader().cancel()).catch(() => undefined);
    throw error;
  }
}

async function checkResponse(
  response: FetchResponse,
  head: ResponseHead,
  { contentType, name, mustStream }: BodyRequest,
  guard: Guard,
): Promise<void> {
  if (response.status !== 200) throw errorOf({ ...head, text: await orAbort(response.text(), guard.signal) });
  if (!head.contentType.startsWith(contentType))
    throw badResponse(head, `is no ${name} (${head.contentType})`);
  if (!mustStream || (response.body !== undefined && response.body !== null)) return;
  const message = 'this fetch cannot stream; pass one that can as options.fetch';
  throw new PatchboardError('bad_response', message, { code: 'bad_response' });
}

async function* chunksOf(
  response: FetchResponse,
  reader: BodyReader | undefined,
  settings: Settings,
  guard: Guard,
): AsyncGenerator<string | Uint8Array, void, undefined> {
  guard.arm(settings.idleTimeoutMs);
  if (reader === undefined) {
    yield await orAbort(response.text(), guard.signal);
    return;
  }
  for (;;) {
    guard.arm(settings.idleTimeoutMs);
    const { done, value } = await orAbort(reader.read(), guard.signal);
    // The time that the consumer spends on a chunk does not count as idle time of the server.
    guard.disarm();
    if (done) return;
    if (value !== undefined) yield value;
  }
}
