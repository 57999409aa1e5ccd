import { reason } from '@patchboard/wire';
import type { IncomingMessage } from 'node:http';
import { denied, failure, type Failure } from '../../../core/failures.ts';

export interface HostOriginOptions {
  /** Besides the loopback names; with a port it must match, without one any will do. */
  readonly allowedHosts: readonly string[];
  /** Besides our own. */
  readonly allowedOrigins: readonly string[];
  /** Default: the port the server is bound to, once it is. A server of somebody else has the one it got the request by. */
  readonly port?: number | 'of each connection' | undefined;
}

type HostOriginRequest = Pick<IncomingMessage, 'headers' | 'rawHeaders' | 'url'> & {
  readonly socket?: { readonly localPort?: number | undefined };
};

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Stands before every route, upgrade and file: a page on another site, or a name that was made to resolve to us,
 * gets nothing.
 */
export class HostOriginGuard {
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  readonly #looksAtConnections: boolean;
  #boundTo: number | null = null;
  #own: ReadonlySet<string> = new Set();
  #ownOrigins: ReadonlySet<string> = new Set();

  constructor(options: HostOriginOptions) {
    this.#hosts = new Set(options.allowedHosts.map((host) => host.toLowerCase()));
    this.#origins = new Set(options.allowedOrigins.map((origin) => origin.toLowerCase().replace(/\/+$/, '')));
    this.#looksAtConnections = options.port === 'of each connection';
    if (typeof options.port === 'number') this.bind(options.port);
  }

  /** Null: no loopback name is ours. */
  bind(port: number | null): void {
    if (port === this.#boundTo) return;
    this.#boundTo = port;
    const own = port === null ? [] : LOOPBACK_NAMES.map((name) => `${name}:${port}`);
    // Browsers leave out the port that goes without saying.
    if (port === 80) own.push(...LOOPBACK_NAMES);
    this.#own = new Set(own);
    this.#ownOrigins = new Set(own.map((host) => `http://${host}`));
  }

  check({ headers, rawHeaders, url = '/', socket }: HostOriginRequest): Failure | null {
    const { host, origin } = headers;
    if (hasTwoHosts(rawHeaders)) {
      const recommendations = ['send one Host header; a proxy in front must replace it, not add another'];
      return failure('body_invalid', reason('host_twice'), { recommendations });
    }
    // A request that came by no socket has no port.
    if (this.#looksAtConnections) this.bind(socket?.localPort ?? null);
    // A target with a host in it goes before the header, and is what one asks a proxy for.
    const named = url.startsWith('/') || url === '*' ? host : url;
    if (named === undefined || host === undefined || !this.#isOurs(named)) {
      return failure('misdirected', reason('host_not_served', { host: named ?? '(none)' }), {
        recommendations: ['add it to http.allowed_hosts in the config file'],
      });
    }
    const isForeign = isForeignSite(headers['sec-fetch-site']);
    if (origin === undefined && !isForeign) return null;
    if (origin !== undefined && this.allowsOrigin(origin)) return null;
    if (origin !== undefined && !isForeign && this.#isOwnOrigin(origin, host)) return null;
    const why = origin === undefined ? reason('site_not_taken') : reason('origin_not_taken', { origin });
    return failure('permission_denied', denied(why), {
      recommendations: ['add the origin to http.allowed_origins in the config file'],
    });
  }

  /** One that was allowed by name, and so gets CORS headers. */
  allowsOrigin(origin: string): boolean {
    return origin !== 'null' && this.#origins.has(origin.toLowerCase());
  }

  #isOurs(host: string): boolean {
    if (this.#own.has(host)) return true;
    const name = host.toLowerCase();
    if (this.#own.has(name) || this.#hosts.has(name)) return true;
    return this.#hosts.has(name.replace(/:\d*$/, ''));
  }

  #isOwnOrigin(origin: string, host: string): boolean {
    const name = origin.toLowerCase();
    return this.#ownOrigins.has(name) || name === `http://${host}` || name === `https://${host}`;
  }
}

/** Node keeps the first of two; a proxy in front may have looked at the last. `rawHeaders`: names and values in turn. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

/**
 * Browsers call every port of this machine the same site and send our cookies along, and an image or a script of such
 * a page has no Origin: only what comes from our own origin or from no page at all is not foreign.
 */
function isForeignSite(site: string | string[] | undefined): boolean {
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}
