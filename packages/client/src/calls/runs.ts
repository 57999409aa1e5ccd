import type { RunView } from '@patchboard/wire';
import { anything } from '../decode/decode.ts';
import { decodeRun } from '../decode/views.ts';
import { boundsOf, request, type HttpRequest, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';
import { pages, type Pages } from '../http/pages.ts';

export interface CreateRunOptions extends RequestOptions {
  /** Default: one made up here, so that a repeated request makes one run only. */
  readonly runId?: string;
}

export interface ListRunsOptions extends RequestOptions {
  readonly limit?: number;
}

export interface Runs {
  create(options?: CreateRunOptions): Promise<RunView>;
  get(runId: string, options?: RequestOptions): Promise<RunView>;
  list(options?: ListRunsOptions): Pages<RunView>;
  /** Ends all its calls; none may join it afterwards. */
  cancel(runId: string, options?: RequestOptions): Promise<void>;
}

export function runs(settings: Settings): Runs {
  const pathOf = (runId: string): string => `/v1/runs/${encodeURIComponent(runId)}`;
  return {
    create(options = {}) {
      const body = { run_id: options.runId ?? `run_${settings.newId()}` };
      const what: HttpRequest = { method: 'POST', path: '/v1/runs', body, repeat: 'safe' };
      return request(settings, what, decodeRun, boundsOf(options));
    },
    get(runId, options = {}) {
      const what: HttpRequest = { method: 'GET', path: pathOf(runId), repeat: 'safe' };
      return request(settings, what, decodeRun, boundsOf(options));
    },
    list: (options = {}) =>
      pages(
        settings,
        { path: '/v1/runs', plural: 'runs', query: { limit: options.limit }, decode: decodeRun },
        options,
      ),
    async cancel(runId, options = {}) {
      const what: HttpRequest = { method: 'POST', path: `${pathOf(runId)}/cancel`, body: {}, repeat: 'safe' };
      await request(settings, what, anything, boundsOf(options));
    },
  };
}
