import { get, post, type Asking, type HttpResponse } from './http.ts';

/** The HTTP API of one server, by path. */
export class ServerApi {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  /** `token` is null if the server is in local mode. */
  constructor(url: string, token: string | null = null) {
    this.#url = url;
    this.#headers = token === null ? {} : { authorization: `Bearer ${token}` };
  }

  async get(path: string, asking: Asking = {}): Promise<HttpResponse> {
    return await get(`${this.#url}${path}`, this.#with(asking));
  }

  async post(path: string, body: unknown, asking: Asking = {}): Promise<HttpResponse> {
    return await post(`${this.#url}${path}`, body, this.#with(asking));
  }

  /** Returns the response before its body has ended. */
  async open(path: string, signal: AbortSignal): Promise<Response> {
    return await fetch(`${this.#url}${path}`, { headers: this.#headers, signal });
  }

  #with(asking: Asking): Asking {
    return { ...asking, headers: { ...this.#headers, ...asking.headers } };
  }
}
