import { HEADER_MISMATCH, parsed, VERSION_KEY } from './json-rpc.mjs';
import { modernHeaders, paramHeaders, paramHeadersOf } from './request-headers.mjs';
import { isEventStream, textOf } from './response-body.mjs';

/** The era of 2026-07-28 and later: every request stands alone, and its headers repeat parts of its body. */
export class ModernEra {
  #endpoint;
  /** `x-mcp-header` properties by tool name, from lists of tools. */
  #paramHeaders = new Map();
  #hasListed = false;

  /** @param {import('./endpoint.mjs').Endpoint} endpoint */
  constructor(endpoint) {
    this.#endpoint = endpoint;
  }

  /** Resolves to the response. */
  async send(exchange) {
    const { message, method } = exchange;
    if (method !== 'tools/call') return await this.#post(exchange);
    if (!this.#hasListed && !this.#paramHeaders.has(message.params?.name)) await this.#listTools(message);
    const response = await this.#post(exchange);
    if (response.status !== 400 || isEventStream(response)) return response;
    const text = await textOf(response);
    if (parsed(text)?.error?.code !== HEADER_MISMATCH)
      return { status: 400, headers: response.headers, alreadyRead: text };
    // The server refused it before it ran, because the headers of the tool have changed.
    await this.#listTools(message);
    return await this.#post(exchange);
  }

  /** Keeps the headers of listed tools. */
  learn(tools) {
    for (const [name, found] of paramHeadersOf(tools)) this.#paramHeaders.set(name, found);
  }

  #post(exchange) {
    return this.#endpoint.send(exchange, () => this.#headersFor(exchange));
  }

  #headersFor({ message, version }) {
    const headers = modernHeaders(message, version);
    if (message.method !== 'tools/call') return headers;
    const { name, arguments: args } = message.params;
    return { ...headers, ...paramHeaders(this.#paramHeaders.get(name), args) };
  }

  /** Lists the tools with the `_meta` of a call, for a client that has not listed them through this process. */
  async #listTools({ params }) {
    this.#hasListed = true;
    const meta = Object.entries(params._meta).filter(([key]) => key.startsWith('io.modelcontextprotocol/'));
    const _meta = Object.fromEntries(meta);
    let cursor;
    do {
      const page = cursor === undefined ? { _meta } : { _meta, cursor };
      const headers = modernHeaders({ method: 'tools/list', params: page }, _meta[VERSION_KEY]);
      const { message } = await this.#endpoint.request('tools/list', page, headers);
      this.learn(message?.result?.tools);
      cursor = message?.result?.nextCursor;
    } while (typeof cursor === 'string');
  }
}
