import { CALL_STATES, METRIC_GROUPS, reason, type CallMetricsView } from '@patchboard/wire';
import type { FastifyReply } from 'fastify';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { COMPLETE, momentOf, queryOf, refusedParameter } from '../shared/routes/query-parameters.ts';
import {
  type RequestWith,
  route,
  type Route,
  type Schema,
  sendJson,
  type ValueOf,
} from '../shared/routes/routes.ts';
import { COUNT, enumOf, listOf, nullable, object, optional, TEXT } from '../shared/routes/schemas.ts';

const DEFAULT_SINCE = '1h';
const COVERED =
  'what is counted: the time of the request, extended to whole minutes, or hours if it begins more than two days ago';
const DEFAULT_POINTS = 60;
const MAX_POINTS = 200;

const PERCENTILES: Schema = {
  ...nullable(object({ p50: COUNT, p95: COUNT, p99: COUNT, max: COUNT })),
  description: 'milliseconds, at most 5 % too high; null if there are no such calls',
};
const FIGURES: Readonly<Record<string, Schema>> = {
  count: COUNT,
  failed: { ...COUNT, description: 'ended in another state than COMPLETED, or refused' },
  ran_ms: PERCENTILES,
  waited_ms: PERCENTILES,
};
const OUTCOMES = optional(Object.fromEntries([...CALL_STATES, 'REFUSED'].map((name) => [name, COUNT])));
const MOMENT: Schema = { type: 'number', description: 'epoch seconds' };

const SERIES = object({
  key: {
    ...TEXT,
    description: 'the tool, agent, outcome or code; empty without `by`, and for calls without a code',
  },
  ...FIGURES,
  outcomes: OUTCOMES,
  codes: { type: 'object', additionalProperties: COUNT },
  points: {
    ...listOf(object({ at: { ...MOMENT, description: 'start of the bucket, epoch seconds' }, ...FIGURES })),
    description: 'in order of time; buckets without calls are left out',
  },
});

const QUERY = optional({
  since: {
    ...TEXT,
    description: `RFC 3339, epoch seconds, or how long ago; default: \`${DEFAULT_SINCE}\``,
  },
  until: { ...TEXT, description: 'the same; default: now' },
  by: { ...enumOf(METRIC_GROUPS), description: 'default: one series of all calls' },
  query: { ...TEXT, description: 'the keys tool and agent of `GET /v1/tool_calls`' },
  points: {
    ...COUNT,
    minimum: 1,
    maximum: MAX_POINTS,
    default: DEFAULT_POINTS,
    description: 'number of buckets that are as long as the time; the first may begin before `since`',
  },
});

export const callMetricsRoute: Route = route({
  method: 'GET',
  url: '/v1/call_metrics',
  name: 'callMetrics',
  api: 'agent',
  summary:
    'How many calls ended, and requests were refused, in buckets of time, with percentiles of run time and wait. An agent gets its own only.',
  scope: 'calls:read',
  query: QUERY,
  responses: {
    200: {
      description: 'at most 100 series, and at most about 2,000 points in all of them',
      schema: object({
        since: { ...MOMENT, description: COVERED },
        until: { ...MOMENT, description: `${COVERED}; it may be in the future` },
        bucket_s: { ...COUNT, description: 'width of a bucket in seconds' },
        by: { enum: [...METRIC_GROUPS, null] },
        complete: COMPLETE,
        series: { ...listOf(SERIES), description: 'the largest first' },
        more: { ...COUNT, description: 'number of further series, which are left out' },
      }),
    },
  },
  refusals: ['storage_unavailable'],
  handle: callMetrics,
});

async function callMetrics(
  context: HttpContext,
  request: RequestWith<{ query: ValueOf<typeof QUERY> }>,
  reply: FastifyReply,
): Promise<void> {
  const given = request.query;
  const now = Math.floor(context.clock.now());
  const { by = null, points = DEFAULT_POINTS } = given;
  const since = momentOf(given.since ?? DEFAULT_SINCE, now, 'since') ?? now;
  const until = Math.min(momentOf(given.until, now, 'until') ?? now, now);
  if (since >= until) throw refusedParameter('since', reason('issue_not_before_until'));
  const query = queryOf(given.query, now, 'metrics');
  const found = await context.engine.searches.metrics(principalOf(request), {
    since,
    until,
    points,
    by,
    query,
  });
  const view: CallMetricsView = {
    since: found.since / 1000,
    until: found.until / 1000,
    bucket_s: found.stepMs / 1000,
    by,
    complete: found.isComplete,
    series: found.series,
    more: found.more,
  };
  sendJson(reply, 200, JSON.stringify(view));
}
