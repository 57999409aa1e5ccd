/** What one client has open at the server, with what is needed to open it again. */
export class Session {
  /** Closes the stream of the session. */
  controller = new AbortController();
  hadStream = false;
  /** Requests that changed the session: its log level and subscriptions. */
  remembered = new Map();

  /**
   * @param {unknown} params Those of `initialize`.
   * @param {Response} response The response to `initialize`.
   * @param {string} version
   */
  constructor(params, response, version) {
    this.params = params;
    /** Null if the server has no sessions. */
    this.id = response.headers.get('mcp-session-id');
    this.version = version;
  }

  /** The headers of every message in the session. */
  get headers() {
    return {
      ...(this.id ? { 'mcp-session-id': this.id } : {}),
      'mcp-protocol-version': this.version,
    };
  }

  remember({ method, params }) {
    if (method === 'logging/setLevel') this.remembered.set(method, { method, params });
    if (method === 'resources/subscribe') this.remembered.set(`uri ${params?.uri}`, { method, params });
    if (method === 'resources/unsubscribe') this.remembered.delete(`uri ${params?.uri}`);
  }
}
