import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { FetchLike } from '@patchboard/client';

/**
 * A fetch over Node's HTTP client, for large downloads: Node's own fetch ends the process if the connection ends while the
 * body is read slowly (nodejs/undici#5360), and waits at most five minutes for a response.
 */
export const fetchOverHttp: FetchLike = async (url, { method, headers, body, signal }) => {
  const request = url.startsWith('https:') ? httpsRequest : httpRequest;
  const sent = request(url, { method, headers, signal, agent: false });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return {
    status: response.statusCode ?? 0,
    headers: { get: (name) => headerOf(response, name) },
    body: Readable.toWeb(response) as ReadableStream<Uint8Array>,
    text: () => text(response),
  };
};

function headerOf(response: IncomingMessage, name: string): string | null {
  const value = response.headers[name.toLowerCase()];
  return value === undefined ? null : String(value);
}
