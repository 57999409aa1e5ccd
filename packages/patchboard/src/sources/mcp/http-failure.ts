import { SdkHttpError } from '@modelcontextprotocol/client';
import { unknownSession } from './http-exchange.ts';
import { ConnectionLost, isUnknownSession, NotStarted, type McpResponse } from './mcp-connection.ts';
import { connectionErrorOf, textOf } from './network-error.ts';
import { responseOf } from './intercepting-transport.ts';

/**
 * What it means for the request `id` that the SDK's transport could not send it or read its response. An HTTP error whose body
 * is the JSON-RPC error of the request is its response: servers of 2026-07-28 send 404 for an unknown method.
 */
export function httpFailure(error: unknown, id: string, hasSession: boolean): Error | McpResponse {
  const known = connectionErrorOf(error);
  if (known !== null) return known;
  if (!(error instanceof SdkHttpError))
    return new ConnectionLost(`the response could not be read: ${textOf(error)}`);
  const { status } = error;
  const response = errorIn(error.data['text'], id);
  if (response !== null) return response;
  if (hasSession && isUnknownSession(status)) return unknownSession(status);
  // Any other redirect may be what the server does after it processed the request.
  if (status < 400 && status !== 307 && status !== 308)
    return new ConnectionLost(`the server responded without a result (HTTP ${status})`);
  return new NotStarted(`the server refused the request (HTTP ${status})`, { mayRetry: false, status });
}

/** Null if the text is not the JSON-RPC error of that request. */
function errorIn(text: unknown, id: string): McpResponse | null {
  const message = parsed(typeof text === 'string' ? text : '');
  if (typeof message !== 'object' || message === null) return null;
  const isError = 'error' in message && 'id' in message && message.id === id;
  return isError ? responseOf(message as Readonly<Record<string, unknown>>) : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
