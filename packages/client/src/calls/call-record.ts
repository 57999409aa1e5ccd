import type { CallView } from '@patchboard/wire';
import { decodeCall } from '../decode/views.ts';
import { boundsOf, request, type HttpRequest, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';

/** Whether a call has reached a terminal status. */
export function isEnded(call: CallView): boolean {
  return call.status !== 'PENDING' && call.status !== 'RUNNING';
}

export async function get(settings: Settings, id: string, options: RequestOptions): Promise<CallView> {
  return request(settings, lookup(id), decodeCall, boundsOf(options));
}

export function lookup(id: string): HttpRequest {
  return { method: 'GET', path: callPath(id), repeat: 'safe' };
}

export function callPath(id: string): string {
  return `/v1/tool_calls/${encodeURIComponent(id)}`;
}
