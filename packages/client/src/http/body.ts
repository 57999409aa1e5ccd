import { PatchboardError } from '../errors.ts';
import { orAbort, throwIfAborted, type Bounds } from './abort.ts';
import { guardAttempt, type Guard } from './guard.ts';
import { headOf, prepare, type HttpRequest } from './http.ts';
import type { Settings } from './options.ts';
import { badResponse, errorOf, type Reply } from './problem.ts';
import type { BodyReader, FetchResponse } from './runtime.ts';

/** A request whose answer is read as it arrives. */
export interface BodyRequest {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What the answer must be, and its name for when it is something else. */
  readonly contentType: string;
  readonly name: string;
  /** Where fetch cannot stream: refuse, or read it in one piece. */
  readonly mustStream: boolean;
}

export type ReplyHead = Omit<Reply, 'text'>;

/** The head, once the server has begun a good answer; then the text, piece by piece. */
export async function* readBody(
  settings: Settings,
  wanted: BodyRequest,
  bounds: Bounds,
): AsyncGenerator<ReplyHead | string, void, undefined> {
  throwIfAborted(bounds.signal);
  const { path, contentType } = wanted;
  const headers = { ...wanted.headers, accept: `${contentType}, application/problem+json` };
  const what: HttpRequest = { method: 'GET', path, headers, repeat: 'safe' };
  const prepared = await prepare(settings, what);
  const guard = guardAttempt(settings, bounds);
  let reader: BodyReader | undefined;
  try {
    guard.arm(settings.requestTimeoutMs);
    const response = await opened(
      settings.fetch(prepared.url, { ...prepared.init, signal: guard.signal }),
      guard,
    );
    const head = headOf(settings, what, response);
    await refuseOther(response, head, wanted, guard);
    reader = response.body?.getReader();
    guard.disarm();
    yield head;
    yield* piecesOf(response, reader, settings, guard);
  } catch (error) {
    throw guard.explain(error);
  } finally {
    // Also reached when the consumer breaks off: the connection must not stay open behind its back.
    reader?.cancel().catch(() => undefined);
    guard.dispose();
  }
}

/** A fetch that ignores the signal may still open the stream after the caller has left: then it is closed at once. */
async function opened(fetched: Promise<FetchResponse>, guard: Guard): Promise<FetchResponse> {
  try {
    return await orAbort(fetched, guard.signal);
  } catch (error) {
    fetched.then((late) => late.body?.getReader().cancel()).catch(() => undefined);
    throw error;
  }
}

async function refuseOther(
  response: FetchResponse,
  head: ReplyHead,
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

async function* piecesOf(
  response: FetchResponse,
  reader: BodyReader | undefined,
  settings: Settings,
  guard: Guard,
): AsyncGenerator<string, void, undefined> {
  guard.arm(settings.idleTimeoutMs);
  if (reader === undefined) {
    yield await orAbort(response.text(), guard.signal);
    return;
  }
  const text = new TextDecoder();
  for (;;) {
    guard.arm(settings.idleTimeoutMs);
    const { done, value } = await orAbort(reader.read(), guard.signal);
    // The consumer may take its time with a piece; that is no silence of the server.
    guard.disarm();
    if (done) return;
    yield text.decode(value, { stream: true });
  }
}
