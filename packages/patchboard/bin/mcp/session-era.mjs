import { setTimeout as sleep } from 'node:timers/promises';
import { RequestError } from './request-error.mjs';
import { eventsOf, isEventStream, textOf } from './response-body.mjs';
import { Session } from './session.mjs';
import { inBackground, note } from './stderr.mjs';

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;

/** The eras before 2026-07-28: `initialize` opens a session, in which all later messages are sent. */
export class SessionEra {
  #endpoint;
  #output;
  /**
   * Null before `initialize`.
   * @type {Session | null}
   */
  #session = null;
  /** Resolves when `initialize` and `notifications/initialized` are through: messages after them wait. */
  #handshake = Promise.resolve();
  /** @type {Promise<void> | null} */
  #renewing = null;

  /**
   * @param {import('./endpoint.mjs').Endpoint} endpoint
   * @param {import('./output.mjs').Output} output
   */
  constructor(endpoint, output) {
    this.#endpoint = endpoint;
    this.#output = output;
  }

  get isOpen() {
    return this.#session !== null;
  }

  /** Calls `work` when the messages of the handshake before it are through. */
  async inOrder({ method }, work) {
    const before = this.#handshake;
    let finish = () => {};
    if (method === 'initialize' || method === 'notifications/initialized')
      this.#handshake = new Promise((through) => (finish = through));
    try {
      await before;
      await work();
    } finally {
      finish();
    }
  }

  /** Resolves to the response, or to null if the message has no meaning any more. */
  async send(exchange) {
    const { method } = exchange;
    const response = await this.#post(exchange);
    const { session } = exchange;
    if (!session?.id || response.status !== 404) return response;
    // The server refused it before it ran, because it lost the session.
    await textOf(response);
    // A response and a cancellation mean something in the old session only.
    if (method === undefined || method === 'notifications/cancelled') return null;
    await this.#renew(session);
    return await this.#post(exchange);
  }

  /** Keeps what a successful request changed. */
  learn({ method, message }, response, result) {
    if (method === 'initialize' && typeof result?.protocolVersion === 'string') {
      this.#session = new Session(message.params, response, result.protocolVersion);
      this.#startListening(this.#session);
    }
    this.#session?.remember(message);
  }

  /** Ends the session, also at the server. */
  async end() {
    const session = this.#session;
    if (session === null) return;
    session.controller.abort();
    if (session.id !== null) await this.#endpoint.delete(session);
    this.#session = null;
  }

  #post(exchange) {
    return this.#endpoint.send(exchange, () => {
      exchange.session = exchange.method === 'initialize' ? null : this.#session;
      return exchange.session?.headers;
    });
  }

  #startListening(session) {
    if (session.id !== null) inBackground(this.#listen(session));
  }

  /** Forwards what the server sends outside of responses, and reconnects when the stream ends. */
  async #listen(session) {
    const { signal } = session.controller;
    for (let delayMs = FIRST_DELAY_MS; !signal.aborted; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
      try {
        const stream = await this.#endpoint.openStream(session);
        // The server offers no such stream.
        if (stream?.status === 405) return;
        // The server lost the session. For a new session, 404 means that the server has no streams.
        if (stream?.status === 404) return session.hadStream ? await this.#renew(session) : undefined;
        if (stream?.ok && isEventStream(stream)) {
          delayMs = FIRST_DELAY_MS;
          session.hadStream = true;
          for await (const data of eventsOf(stream.body)) await this.#output.write(data);
        }
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof RequestError) note(error.message);
      }
      await sleep(delayMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Opens a new session in place of one that the server lost by a restart. */
  #renew(old) {
    if (this.#session !== old) return this.#renewing ?? Promise.resolve();
    this.#renewing ??= this.#initializeAgain(old).finally(() => (this.#renewing = null));
    return this.#renewing;
  }

  async #initializeAgain(old) {
    const { response, message } = await this.#endpoint.request('initialize', old.params);
    const version = message?.result?.protocolVersion;
    if (version !== old.version) {
      const why = message?.error?.message ?? `it now uses version ${version} instead of ${old.version}`;
      throw new RequestError(
        'session_lost',
        'not_started',
        `the session was lost, and the server opened no new one: ${why}`,
      );
    }
    old.controller.abort();
    const session = new Session(old.params, response, version);
    this.#session = session;
    await this.#endpoint.post({ jsonrpc: '2.0', method: 'notifications/initialized' }, session.headers);
    for (const { method, params } of old.remembered.values()) {
      await this.#endpoint.request(method, params, session.headers);
      session.remember({ method, params });
    }
    note('the server has restarted; the session was opened again');
    this.#startListening(session);
  }
}
