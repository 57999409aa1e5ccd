import { reason } from '@patchboard/wire';
import type { IncomingMessage } from 'node:http';
import { denied, failure, type Failure } from '../../../core/failures.ts';

export interface HostOriginOptions {
  /** Accepted in addition to the loopback names. An entry with a port matches only that port. */
  readonly allowedHosts: readonly string[];
  /** Accepted in addition to the server's own origins. */
  readonly allowedOrigins: readonly string[];
  /** Default: the port the server is bound to. `of each connection`: the local port of each request's socket, for a mounted server. */
  readonly port?: number | 'of each connection' | undefined;
}

type HostOriginRequest = Pick<IncomingMessage, 'headers' | 'rawHeaders' | 'url'> & {
  readonly socket?: { readonly localPort?: number | undefined };
};

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Checks the `Host` and `Origin` headers of every request, upgrades included. It protects against cross-site requests and
 * DNS rebinding.
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

  /** With null, no loopback name is accepted. */
  bind(port: number | null): void {
    if (port === this.#boundTo) return;
    this.#boundTo = port;
    const own = port === null ? [] : LOOPBACK_NAMES.map((name) => `${name}:${port}`);
    // Browsers omit the default port.
    if (port === 80) own.push(...LOOPBACK_NAMES);
    this.#own = new Set(own);
    this.#ownOrigins = new Set(own.map((host) => `http://${host}`));
  }

  /** Returns the refusal, or null if the request is accepted. */
  check({ headers, rawHeaders, url = '/', socket }: HostOriginRequest): Failure | null {
    const { host, origin } = headers;
    if (hasTwoHosts(rawHeaders)) {
      const recommendations = ['send one Host header; a proxy in front must replace it, not add another'];
      return failure('body_invalid', reason('host_twice'), { recommendations });
    }
    // An injected request has no socket and so no port.
    if (this.#looksAtConnections) this.bind(socket?.localPort ?? null);
    // A request target with a host (absolute form) overrides the Host header.
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

  /** Whether the origin is in `allowedOrigins` and so gets CORS headers. */
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

/** Node keeps the first Host header; a proxy may have checked the last. `rawHeaders` alternates names and values. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

/**
 * Browsers treat every port of localhost as the same site: they send our cookies with images and scripts of such pages,
 * without an Origin header. So only `same-origin` and `none` (no page) are accepted.
 */
function isForeignSite(site: string | string[] | undefined): boolean {
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}
