import type { DeviceView } from '@patchboard/wire';
import { decodeDevice } from '../decode/views.ts';
import type { RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';
import { pages, type Pages } from '../http/pages.ts';

export interface DevicesFilter extends RequestOptions {
  /** Only devices of this client. Default: of all clients. */
  readonly clientId?: string;
  /** Rows per page. Default 50, at most 200. */
  readonly limit?: number;
}

export function devices(settings: Settings, filter: DevicesFilter): Pages<DeviceView> {
  const query = { client_id: filter.clientId, limit: filter.limit };
  return pages(settings, { path: '/v1/devices', plural: 'devices', query, decode: decodeDevice }, filter);
}
