import type { LedgerVerdictView } from '@patchboard/wire';
import type { Bounds } from '../http/abort.ts';
import { isRecord } from '../decode/decode.ts';
import { decodeVerdict } from '../decode/operator-views.ts';
import { readBody, type BodyRequest, type ResponseHead } from '../http/body.ts';
import { boundsOf, request, type HttpRequest, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';
import { badResponse, parseJson } from '../http/problem.ts';
import { stoppable } from '../http/stoppable.ts';

export interface LedgerVerifyOptions extends RequestOptions {
  /** `checkpoint` of an earlier verification: verifies that row and those after it only. Default: the whole chain. */
  readonly from?: string;
}

/** The server reads the chain before it responds. */
const VERIFY_MS = 600_000;

export async function ledgerVerify(
  settings: Settings,
  options: LedgerVerifyOptions,
): Promise<LedgerVerdictView> {
  const what: HttpRequest = {
    method: 'GET',
    path: `/v1/ledger/verify${options.from === undefined ? '' : `?from=${encodeURIComponent(options.from)}`}`,
    timeoutMs: Math.max(VERIFY_MS, settings.requestTimeoutMs),
    repeat: 'safe',
  };
  return request(settings, what, decodeVerdict, boundsOf(options));
}

/**
 * Yields the lines exactly as the server wrote them, oldest first; the last one contains the head. Throws if the
 * response is truncated, so an iteration without an error is complete.
 */
export function ledgerExport(settings: Settings, options: RequestOptions): AsyncIterableIterator<string> {
  return stoppable(options.signal, (bounds) => lines(settings, bounds));
}

const EXPORT: BodyRequest = {
  path: '/v1/ledger/export',
  contentType: 'application/jsonl',
  name: 'ledger',
  mustStream: false,
};

async function* lines(settings: Settings, bounds: Bounds): AsyncGenerator<string, void, undefined> {
  let head: ResponseHead | null = null;
  let rest = '';
  let last = '';
  for await (const piece of readBody(settings, EXPORT, bounds)) {
    if (typeof piece !== 'string') {
      head = piece;
      continue;
    }
    const parts = (rest + piece).split('\n');
    rest = parts.pop() ?? '';
    last = parts.at(-1) ?? last;
    yield* parts;
  }
  if (head !== null && (rest !== '' || !isHead(last))) throw badResponse(head, 'broke off before its end');
}

function isHead(line: string): boolean {
  const value = parseJson(line)?.value;
  return isRecord(value) && isRecord(value['head']);
}
