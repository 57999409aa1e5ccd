import { get, post, type Asking, type HttpResponse } from './http.ts';

/** The HTTP API of one server or several, by path. */
export interface Api {
  get(path: string, asking?: Asking): Promise<HttpResponse>;
  post(path: string, body: unknown, asking?: Asking): Promise<HttpResponse>;
  /** Returns the response before its body has ended. */
  open(path: string, signal: AbortSignal, headers?: Readonly<Record<string, string>>): Promise<Response>;
}

/** The HTTP API of one server. */
export class ServerApi implements Api {
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

  async open(
    path: string,
    signal: AbortSignal,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    return await fetch(`${this.#url}${path}`, { headers: { ...this.#headers, ...headers }, signal });
  }

  #with(asking: Asking): Asking {
    return { ...asking, headers: { ...this.#headers, ...asking.headers } };
  }
}
