import type { NodesView } from '@patchboard/wire';
import { decodeNodes } from '../decode/node-views.ts';
import { boundsOf, request, type HttpRequest, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';

export function nodes(settings: Settings, options: RequestOptions): Promise<NodesView> {
  const what: HttpRequest = { method: 'GET', path: '/v1/nodes', repeat: 'safe' };
  return request(settings, what, decodeNodes, boundsOf(options));
}
