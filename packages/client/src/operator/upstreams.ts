import type { AcceptContractView, ReloadUpstreamsView, UpstreamView } from '@patchboard/wire';
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

export function acceptContract(
  settings: Settings,
  name: string,
  tool: string | undefined,
  options: RequestOptions,
): Promise<AcceptContractView> {
  // Not retried: a second request could accept a contract that changed in between.
  const what: HttpRequest = {
    method: 'POST',
    path: `${PATH}/${encodeURIComponent(name)}/accept`,
    body: tool === undefined ? {} : { tool },
    repeat: 'unsafe',
  };
  return request(settings, what, decodeAcceptedContracts, boundsOf(options));
}
