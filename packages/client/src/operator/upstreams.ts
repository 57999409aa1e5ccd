import type {
  AcceptContractBody,
  AcceptContractView,
  ReloadUpstreamsView,
  UpstreamView,
} from '@patchboard/wire';
import { anything } from '../decode/decode.ts';
import {
  decodeAcceptedContracts,
  decodeReloadedUpstreams,
  decodeUpstreams,
} from '../decode/upstream-views.ts';
import { boundsOf, request, type HttpRequest, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';

const PATH = '/v1/upstreams';

export async function upstreams(settings: Settings, options: RequestOptions): Promise<UpstreamView[]> {
  const what: HttpRequest = { method: 'GET', path: PATH, repeat: 'safe' };
  const { upstreams: all } = await request(settings, what, decodeUpstreams, boundsOf(options));
  return [...all];
}

export function reloadUpstreams(settings: Settings, options: RequestOptions): Promise<ReloadUpstreamsView> {
  // Not retried: the response to a second request would not have the changes of the first.
  const what: HttpRequest = { method: 'POST', path: `${PATH}/reload`, repeat: 'unsafe' };
  return request(settings, what, decodeReloadedUpstreams, boundsOf(options));
}

export async function restartUpstream(
  settings: Settings,
  name: string,
  options: RequestOptions,
): Promise<void> {
  // Not retried: a second restart would end calls that began after the first.
  const what: HttpRequest = {
    method: 'POST',
    path: `${PATH}/${encodeURIComponent(name)}/restart`,
    repeat: 'unsafe',
  };
  await request(settings, what, anything, boundsOf(options));
}

export function acceptContracts(
  settings: Settings,
  name: string,
  versions: AcceptContractBody['versions'],
  options: RequestOptions,
): Promise<AcceptContractView> {
  // Not retried: the response to a second request would not name what the first accepted.
  const what: HttpRequest = {
    method: 'POST',
    path: `${PATH}/${encodeURIComponent(name)}/accept`,
    body: { versions },
    repeat: 'unsafe',
  };
  return request(settings, what, decodeAcceptedContracts, boundsOf(options));
}
