import { isRequest, VERSION_KEY } from './json-rpc.mjs';

/** A message of the client, or a batch of them, from stdin until the server has responded. */
export class Exchange {
  /** Aborts the HTTP request. */
  controller = new AbortController();
  /** Whether the client cancelled it: it gets no response then. */
  isCancelled = false;
  /**
   * The session in which it was sent.
   * @type {import('./session.mjs').Session | null}
   */
  session = null;
  /**
   * Resolves when the response is written. Set when the exchange is started.
   * @type {Promise<void>}
   */
  done = Promise.resolve();

  constructor(text, message) {
    const version = message.params?._meta?.[VERSION_KEY];
    this.text = text;
    this.message = message;
    this.method = message.method;
    /** The ids of its requests. */
    this.ids = [message].flat().flatMap((one) => (isRequest(one) ? [one.id] : []));
    /** The ids of those without a response yet. */
    this.unanswered = new Set(this.ids);
    /** @type {string | null} */
    this.version = typeof version === 'string' ? version : null;
  }

  /** Whether it belongs to the era of 2026-07-28 and later, in which there are no sessions. */
  get isModern() {
    return this.version !== null;
  }
}
