import { readFile, stat } from 'node:fs/promises';
import { messageOf } from '../../core/failures.ts';
import { BodyTooLarge } from '../shared/fetch-errors.ts';
import type { OpenApiSettings } from './openapi-settings.ts';
import { DESCRIPTION_BYTES } from './read-description.ts';
import { decodeText, readBytes } from './response-body.ts';

const READ_TIMEOUT_MS = 30_000;

/** Reads the text of a description from its file or URL. */
export interface DescriptionSource {
  /** Returns null if it is the same as at the last read. `isForced`: returns it in any case. Throws if it cannot be read. */
  read(isForced: boolean, signal: AbortSignal): Promise<string | null>;
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** `fetch` must allow bodies of `DESCRIPTION_BYTES`. */
export function descriptionSource(settings: OpenApiSettings, fetch: Fetch): DescriptionSource {
  return settings.description.kind === 'file'
    ? new FileSource(settings.description.path)
    : new UrlSource(settings.description.url, headersFor(settings, settings.description.url), fetch);
}

/** The headers are meant for the API: another origin does not get them. */
function headersFor({ headers, server }: OpenApiSettings, url: string): Readonly<Record<string, string>> {
  const isSame = server !== null && URL.canParse(server) && new URL(server).origin === new URL(url).origin;
  return isSame ? headers : {};
}

class FileSource implements DescriptionSource {
  readonly #path: string;
  #version = '';

  constructor(path: string) {
    this.#path = path;
  }

  async read(isForced: boolean): Promise<string | null> {
    const found = await stat(this.#path).catch((error: unknown) => this.#fail(error));
    const version = `${found.mtimeMs} ${found.size}`;
    if (!isForced && version === this.#version) return null;
    if (found.isDirectory()) throw new Error(`could not read ${this.#path}: it is a folder`);
    if (found.size > DESCRIPTION_BYTES)
      throw new Error(`${this.#path} is larger than ${DESCRIPTION_BYTES} bytes`);
    const text = await readFile(this.#path, 'utf8').catch((error: unknown) => this.#fail(error));
    this.#version = version;
    return text;
  }

  #fail(error: unknown): never {
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const text = isAbsent ? 'there is no such file' : messageOf(error);
    throw new Error(`could not read ${this.#path}: ${text}`, { cause: error });
  }
}

class UrlSource implements DescriptionSource {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: Fetch;
  #etag: string | null = null;
  #text: string | null = null;

  constructor(url: string, headers: Readonly<Record<string, string>>, fetch: Fetch) {
    this.#url = url;
    this.#headers = headers;
    this.#fetch = fetch;
  }

  async read(isForced: boolean, signal: AbortSignal): Promise<string | null> {
    const headers = new Headers(this.#headers);
    headers.set('accept', 'application/openapi+json, application/json, application/yaml, */*;q=0.5');
    if (!isForced && this.#etag !== null) headers.set('if-none-match', this.#etag);
    const response = await this.#fetch(this.#url, {
      headers,
      signal: AbortSignal.any([signal, AbortSignal.timeout(READ_TIMEOUT_MS)]),
    });
    if (response.status === 304) return null;
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`${shown(this.#url)} returned status ${response.status}`);
    }
    const text = decodeText(await this.#bytes(response), response);
    this.#etag = response.headers.get('etag');
    if (!isForced && text === this.#text) return null;
    this.#text = text;
    return text;
  }

  async #bytes(response: Response): Promise<Uint8Array> {
    try {
      return await readBytes(response, DESCRIPTION_BYTES);
    } catch (error) {
      if (!(error instanceof BodyTooLarge)) throw error;
      throw new Error(`${shown(this.#url)} is larger than ${DESCRIPTION_BYTES} bytes`, { cause: error });
    }
  }
}

/** A query may hold a secret. */
function shown(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
