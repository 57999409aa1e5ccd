/** What the SDK requires of a WebSocket: that of browsers, Node, React Native, or a compatible library. */
export interface SocketLike {
  send(text: string): void;
  close(code?: number, reason?: string): void;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onclose: ((event: { readonly code?: number; readonly reason?: string }) => void) | null;
  onerror: ((event: never) => void) | null;
}

export type OpenSocket = (url: string) => SocketLike;

export function defaultSocket(url: string): SocketLike {
  if (typeof globalThis.WebSocket !== 'function') {
    throw new TypeError('pass options.socket: this runtime has no WebSocket of its own');
  }
  return new globalThis.WebSocket(url) as unknown as SocketLike;
}

/** Converts `http://host/prefix` to `ws://host/prefix/ws`; a `ws:` URL keeps its scheme. */
export function socketUrl(url: string, ticket: string | null): string {
  const base = url.replace(/^http/, 'ws').replace(/\/+$/, '');
  const address = base.endsWith('/ws') ? base : `${base}/ws`;
  return ticket === null ? address : `${address}?ticket=${encodeURIComponent(ticket)}`;
}

/** The base URL of the server for HTTP requests. */
export function httpUrl(url: string): string {
  return url.replace(/^ws/, 'http').replace(/\/+$/, '').replace(/\/ws$/, '');
}
