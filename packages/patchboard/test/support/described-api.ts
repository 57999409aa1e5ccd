import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { isRecord } from '@patchboard/wire/json';
import { exampleOf, follow, type Document } from './schema-example.ts';

export interface ReceivedRequest {
  readonly method: string;
  /** The path with its query, after the prefix of the server. */
  readonly path: string;
  /** The path template of the description; null: it has none for this request. */
  readonly template: string | null;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface DescribedApi {
  /** Without a path. */
  readonly origin: string;
  readonly requests: ReceivedRequest[];
  /** The text that `/openapi.json` serves. */
  description: string;
}

export interface DescribedApiOptions {
  /** The path of the server, such as `/v1`. */
  readonly prefix?: string;
  /** Responds itself and returns true, or leaves the response to the description. */
  readonly respond?: (request: ReceivedRequest, response: ServerResponse) => boolean;
}

/**
 * An HTTP server that responds as its description says: with the example of the success response, or with a value that
 * fits its schema. It is closed when the test has ended.
 */
export async function aDescribedApi(
  document: Document,
  options: DescribedApiOptions = {},
): Promise<DescribedApi> {
  const requests: ReceivedRequest[] = [];
  const api: DescribedApi = { origin: '', requests, description: JSON.stringify(document) };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => respond(request, response, Buffer.concat(chunks).toString('utf8')));
  });
  function respond(request: IncomingMessage, response: ServerResponse, body: string): void {
    const { method = '', url = '', headers } = request;
    const path = url.startsWith(options.prefix ?? '') ? url.slice(options.prefix?.length ?? 0) : url;
    const found = operationAt(document, method, path.split('?')[0] ?? '');
    const received = { method, path, template: found?.template ?? null, headers, body };
    requests.push(received);
    if (options.respond?.(received, response) === true) return;
    if (path === '/openapi.json') sendDescription(api.description, request, response);
    else if (found === null)
      response.writeHead(404, { 'content-type': 'text/plain' }).end('no such operation');
    else sendExample(document, found.operation, method, response);
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return Object.assign(api, { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

function sendDescription(text: string, { headers }: IncomingMessage, response: ServerResponse): void {
  const etag = `"${Buffer.from(text).toString('base64url').length}-${text.length}"`;
  if (headers['if-none-match'] === etag) response.writeHead(304).end();
  else response.writeHead(200, { 'content-type': 'application/json', etag }).end(text);
}

function sendExample(
  document: Document,
  operation: Document,
  method: string,
  response: ServerResponse,
): void {
  const responses = isRecord(operation['responses']) ? operation['responses'] : {};
  const [status = '204', given] = Object.entries(responses).find(([code]) => code.startsWith('2')) ?? [];
  const described = follow(given, document);
  const content = isRecord(described) && isRecord(described['content']) ? described['content'] : {};
  const [mediaType, media] =
    Object.entries(content).find(([type]) => /json/.test(type)) ?? Object.entries(content)[0] ?? [];
  const code = status.toUpperCase() === '2XX' ? 200 : Number(status);
  if (mediaType === undefined || method === 'HEAD' || code === 204)
    response.writeHead(code === 200 ? 204 : code).end();
  else {
    const value = exampleOf(isRecord(media) ? media : {}, document);
    const isJson = /json|\*/.test(mediaType);
    const type = mediaType.includes('*') ? 'application/json' : mediaType;
    response.writeHead(code, { 'content-type': type });
    response.end(isJson || typeof value !== 'string' ? JSON.stringify(value) : value);
  }
}

/** Literal templates come before those with placeholders. */
function operationAt(
  document: Document,
  method: string,
  path: string,
): { readonly template: string; readonly operation: Document } | null {
  const paths = isRecord(document['paths']) ? document['paths'] : {};
  const templates = Object.keys(paths).sort((a, b) => a.split('{').length - b.split('{').length);
  for (const template of templates) {
    const literal = template.split(/\{[^}]*\}/).map((part) => part.replace(/[.*+?^$()|[\]\\]/g, '\\$&'));
    const item = follow(paths[template], document);
    const operation = isRecord(item) ? item[method.toLowerCase()] : undefined;
    if (isRecord(operation) && new RegExp(`^${literal.join('[^/]+')}$`).test(path))
      return { template, operation };
  }
  return null;
}
