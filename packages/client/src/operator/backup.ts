import { BACKUP_HEADERS, BACKUP_TYPE, type LedgerHeadView } from '@patchboard/wire';
import { isBytes, readBytes, type BodyRequest, type ResponseHead } from '../http/body.ts';
import { boundsOf, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';
import { badResponse } from '../http/problem.ts';

/** A copy of a store, as it arrives. Iterate over `chunks`, or abort the signal; otherwise the connection stays open. */
export interface BackupDownload {
  readonly bytes: number;
  /** The newest ledger row in the copy. */
  readonly head: LedgerHeadView;
  /** The bytes of an SQLite file. Throws if the response is truncated, so an iteration without an error is complete. */
  readonly chunks: AsyncIterableIterator<Uint8Array>;
}

/** The server makes the whole copy before it responds. */
const COPY_MS = 600_000;

const BACKUP = {
  method: 'POST',
  path: '/v1/backup',
  contentType: BACKUP_TYPE,
  name: 'backup',
  mustStream: true,
} as const;

export async function backup(settings: Settings, options: RequestOptions): Promise<BackupDownload> {
  const wanted: BodyRequest = { ...BACKUP, timeoutMs: Math.max(COPY_MS, settings.requestTimeoutMs) };
  const pieces = readBytes(settings, wanted, boundsOf(options));
  const first = await pieces.next();
  if (first.done === true || typeof first.value !== 'object' || isBytes(first.value))
    throw new TypeError('the response has no head');
  const head = first.value;
  try {
    const { bytes, seq, hash } = factsOf(head);
    return { bytes, head: { seq, hash }, chunks: complete(pieces, head, bytes) };
  } catch (error) {
    await pieces.return();
    throw error;
  }
}

function factsOf(head: ResponseHead): { bytes: number; seq: number; hash: string } {
  const bytes = Number(head.header('content-length') ?? Number.NaN);
  const seq = Number(head.header(BACKUP_HEADERS.seq) ?? Number.NaN);
  const hash = head.header(BACKUP_HEADERS.hash);
  if (!Number.isSafeInteger(bytes) || !Number.isSafeInteger(seq) || hash === null)
    throw badResponse(head, 'does not name its size and its newest ledger row');
  return { bytes, seq, hash };
}

async function* complete(
  pieces: AsyncIterable<ResponseHead | Uint8Array | string>,
  head: ResponseHead,
  bytes: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let read = 0;
  for await (const piece of pieces) {
    if (!isBytes(piece)) continue;
    read += piece.length;
    yield piece;
  }
  if (read !== bytes) throw badResponse(head, `broke off after ${read} of ${bytes} bytes`);
}
