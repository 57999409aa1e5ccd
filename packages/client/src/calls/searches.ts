import type { CallMetricsView, MetricGroupName, RefusedCallView } from '@patchboard/wire';
import { decodeCallMetrics, decodeRefusedCall } from '../decode/search-views.ts';
import { boundsOf, request, withQuery, type HttpRequest, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';
import { pages, type Pages } from '../http/pages.ts';
import { timeOf } from './lists.ts';

export interface RefusedCallsFilter extends RequestOptions {
  /** A query of the keys tool, agent, code, trace, since and until. */
  readonly query?: string;
  /** Rows per page. Default 50, at most 200. */
  readonly limit?: number;
}

export interface CallMetricsOptions extends RequestOptions {
  /** A string is sent unchanged: RFC 3339, or how long ago. Default: `1h`. */
  readonly since?: Date | string;
  /** Default: now. */
  readonly until?: Date | string;
  /** Default: one series of all calls. */
  readonly by?: MetricGroupName;
  /** A query of the keys tool and agent. */
  readonly query?: string;
  /** About how many points a series has at most. Default 60, at most 200. */
  readonly points?: number;
}

/** Returns requests that were refused before a call was recorded, newest first. */
export function refusedCalls(settings: Settings, filter: RefusedCallsFilter): Pages<RefusedCallView> {
  const query = { query: filter.query, limit: filter.limit };
  const source = { path: '/v1/refused_calls', plural: 'refused_calls', query, decode: decodeRefusedCall };
  return pages(settings, source, filter);
}

export function callMetrics(settings: Settings, options: CallMetricsOptions): Promise<CallMetricsView> {
  const path = withQuery('/v1/call_metrics', {
    since: timeOf(options.since),
    until: timeOf(options.until),
    by: options.by,
    query: options.query,
    points: options.points,
  });
  const what: HttpRequest = { method: 'GET', path, repeat: 'safe' };
  return request(settings, what, decodeCallMetrics, boundsOf(options));
}
