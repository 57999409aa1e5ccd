/** What the SDK asks of a socket: that of browsers, Node, React Native, or of any library that looks like it. */
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

/** `http://host/prefix` becomes `ws://host/prefix/ws`; a `ws:` address is taken as it is meant. */
export function socketUrl(url: string, ticket: string | null): string {
  const base = url.replace(/^http/, 'ws').replace(/\/+$/, '');
  const address = base.endsWith('/ws') ? base : `${base}/ws`;
  return ticket === null ? address : `${address}?ticket=${encodeURIComponent(ticket)}`;
}

/** The server's own address, for what is asked over HTTP. */
export function httpUrl(url: string): string {
  return url.replace(/^ws/, 'http').replace(/\/+$/, '').replace(/\/ws$/, '');
}
