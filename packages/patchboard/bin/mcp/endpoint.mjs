import { parsed } from './json-rpc.mjs';
import { hadNoConnection, lostConnection, reasonOf, unreachable } from './request-error.mjs';
import { eventsOf, isEventStream, textOf } from './response-body.mjs';
import { note } from './stderr.mjs';

/** Stdin is not read while more bytes of requests than this wait for the server. */
const MAX_UNSENT_BYTES = 16 * 1024 * 1024;
const DELETE_MS = 2000;

/** HTTP requests to `/mcp` of the server. */
export class Endpoint {
  /** Whether a server has responded. */
  hasReached = false;
  #options;
  #server;
  #output;
  #unsentBytes = 0;
  /** @type {((value?: unknown) => void) | null} */
  #onSent = null;
  #ownRequests = 0;

  /**
   * @param {import('./options.mjs').Options} options
   * @param {import('./find-server.mjs').ServerFinder} server
   * @param {import('./output.mjs').Output} output
   */
  constructor(options, server, output) {
    this.#options = options;
    this.#server = server;
    this.#output = output;
  }

  /**
   * Posts a message of the client. If there was no connection, searches the server and tries once more.
   * `headersNow` is called for each attempt.
   */
  async send({ text, controller: { signal } }, headersNow) {
    this.#unsentBytes += text.length;
    try {
      for (let attempt = 1; ; attempt += 1) {
        const url = await this.#server.find();
        try {
          const headers = headersNow();
          const response = await this.#post(url, { headers, body: text, signal });
          this.hasReached = true;
          return response;
        } catch (error) {
          if (signal.aborted) throw error;
          const mayFindAnother = this.#server.lost(url);
          if (!hadNoConnection(error)) throw lostConnection(url, error);
          if (!mayFindAnother || attempt > 1)
            throw unreachable(
              `no server responds at ${url} (${reasonOf(error)}); start it with: patchboard serve. The request was not sent`,
            );
        }
      }
    } finally {
      this.#unsentBytes -= text.length;
      this.#onSent?.();
    }
  }

  /** Resolves when the server has taken enough of the messages for more to be read. */
  async hasRoom() {
    while (this.#unsentBytes > MAX_UNSENT_BYTES) await new Promise((sent) => (this.#onSent = sent));
  }

  /** Sends a request of the bridge itself, whose response is not forwarded. */
  async request(method, params, headers) {
    const id = `patchboard-mcp-${(this.#ownRequests += 1)}`;
    const response = await this.post({ jsonrpc: '2.0', id, method, params }, headers);
    if (!isEventStream(response)) return { response, message: parsed(await textOf(response)) };
    for await (const data of eventsOf(response.body)) {
      const message = parsed(data);
      if (message?.id === id) return { response, message };
      await this.#output.write(data);
    }
    return { response, message: undefined };
  }

  /** Posts a message of the bridge itself. */
  async post(message, headers) {
    const url = await this.#server.find();
    try {
      return await this.#post(url, { headers, body: JSON.stringify(message) });
    } catch (error) {
      this.#server.lost(url);
      throw unreachable(`no server responds at ${url} (${reasonOf(error)}); start it with: patchboard serve`);
    }
  }

  /** Opens the stream of a session. Resolves to null if no server runs. */
  async openStream({ headers, controller: { signal } }) {
    const url = await this.#server.look();
    if (url === null) return null;
    try {
      const response = await this.#fetch(url, { headers, signal });
      if (!isEventStream(response)) await textOf(response);
      return response;
    } catch (error) {
      if (hadNoConnection(error)) this.#server.lost(url);
      throw error;
    }
  }

  /** Ends a session at the server. */
  async delete({ headers }) {
    const { known } = this.#server;
    if (known === null) return;
    try {
      await this.#fetch(known, { method: 'DELETE', headers, signal: AbortSignal.timeout(DELETE_MS) });
    } catch (error) {
      // A server that is gone has no session.
      if (!hadNoConnection(error)) note(`the session could not be ended: ${reasonOf(error)}`);
    }
  }

  #post(url, { headers, ...init }) {
    const typed = { 'content-type': 'application/json', ...headers };
    return this.#fetch(url, { method: 'POST', headers: typed, ...init });
  }

  #fetch(url, { headers, ...init }) {
    const { key, query } = this.#options;
    const all = {
      accept: 'application/json, text/event-stream',
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    };
    // A redirect would lead key and session to another server.
    return fetch(`${url}/mcp${query}`, { headers: all, redirect: 'error', ...init });
  }
}
