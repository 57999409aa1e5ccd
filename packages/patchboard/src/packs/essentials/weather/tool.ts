import { reason, reasonText, type Reason } from '@patchboard/wire';
import { ToolFailure, failure } from '../../../core/failures.ts';
import type { ServerTool } from '../../../core/tools/server-tool.ts';
import { readText } from '../arguments.ts';
import { ServiceError } from './fetch-json.ts';
import { findPlace } from './find-place.ts';
import { openMeteo } from './open-meteo.ts';
import type { OpenMeteo, OpenMeteoOptions } from './open-meteo.ts';
import { placeInQuery } from './place-in-query.ts';
import { RecentReports } from './recent-reports.ts';
import { REPORT_SCHEMA, reportOf } from './report.ts';
import type { WeatherReport } from './report.ts';

export interface WeatherToolOptions extends OpenMeteoOptions {
  /** Time limit for both requests together. Shorter than the timeout of the tool, so that a cached report can still be returned. */
  readonly budgetMs: number;
  readonly now: () => number;
}

type PlaceQuery = { readonly place: string; readonly language: 'en' | 'zh' };

const MAX_QUERY_LENGTH = 300;
const MAX_KEPT_REPORTS = 500;
const MAX_AGE_MS = 60 * 60 * 1000;

export function weatherTool(options: WeatherToolOptions): ServerTool {
  const service = openMeteo(options);
  const recent = new RecentReports<WeatherReport>({
    maxEntries: MAX_KEPT_REPORTS,
    maxAgeMs: MAX_AGE_MS,
    now: options.now,
  });
  return {
    name: 'weather.query',
    description: DESCRIPTION,
    inputSchema: INPUT_SCHEMA,
    outputSchema: REPORT_SCHEMA,
    timeoutMs: 5000,
    annotations: { readonly: true, destructive: false, idempotent: true },
    metadata: {
      version: '1.0.0',
      tags: ['weather'],
      attribution: 'Weather data by Open-Meteo.com (CC BY 4.0)',
    },
    concurrency: 16,
    async execute(args, context) {
      const query = readQuestion(readText(args, 'query'));
      const key = JSON.stringify([query.place.toLowerCase(), query.language]);
      try {
        const report = await withinBudget(options.budgetMs, context.signal, async (signal) => {
          return await fetchReport(service, query, signal);
        });
        recent.keep(key, report);
        return { ...report, source: 'live', age_s: 0 };
      } catch (error) {
        if (!(error instanceof ServiceError) || context.signal.aborted) throw error;
        const kept = recent.find(key);
        if (kept === undefined) throw serviceFailure(error);
        return { ...kept.value, source: 'cache', age_s: Math.floor(kept.ageMs / 1000) };
      }
    },
  };
}

/** Not `AbortSignal.timeout`: its timer would outlive the call and keep the signals in memory. */
async function withinBudget<T>(
  budgetMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const budget = new AbortController();
  const overrun = new DOMException(`it took more than ${budgetMs} ms`, 'TimeoutError');
  const timer = setTimeout(() => budget.abort(overrun), budgetMs);
  try {
    return await work(AbortSignal.any([signal, budget.signal]));
  } finally {
    clearTimeout(timer);
  }
}

function readQuestion(query: string): PlaceQuery {
  const question = placeInQuery(query);
  switch (question.kind) {
    case 'place':
      return question;
    case 'other-time':
      throw badQuery(
        reason('weather_other_time', { words: question.words }),
        'ask for the weather now, for example "weather in Beijing"',
      );
    case 'no-place':
      throw badQuery(
        reason('weather_without_place'),
        'name a city, for example "weather in Beijing" or "北京天气"',
      );
  }
}

async function fetchReport(
  service: OpenMeteo,
  query: PlaceQuery,
  signal: AbortSignal,
): Promise<WeatherReport> {
  const place = await findPlace(service, query, signal);
  if (place === undefined) {
    throw new ToolFailure(
      failure('tool_failed', reason('weather_place_unknown', { place: query.place }), {
        recommendations: ['check the spelling, or name the nearest larger city, for example "Paris, France"'],
      }),
    );
  }
  return reportOf(place, await service.current(place.latitude, place.longitude, signal));
}

function badQuery(why: Reason, recommendation: string): ToolFailure {
  return new ToolFailure(
    failure('input_invalid', why, {
      issues: [{ path: '/query', message: reasonText(why), reasons: [why] }],
      recommendations: [recommendation],
    }),
  );
}

function serviceFailure({ message, why, isTimeout }: ServiceError): ToolFailure {
  const code = isTimeout ? 'timeout' : 'upstream_unreachable';
  return new ToolFailure(
    failure(code, reason('weather_unusable', { error: message, why: [why] }), {
      recommendations: ['try again in a minute'],
    }),
  );
}

const DESCRIPTION = [
  'Tells the current weather at one place, from Open-Meteo: sky in words, temperature, humidity, wind, precipitation.',
  'The query is free text in English or Chinese that names the place, such as "weather in Beijing", "北京天气" or',
  '"temperature in Paris, France". It knows the present only: no forecast for other days, no history.',
  'source is "live", or "cache" (at most an hour old, see age_s) when the service did not answer.',
].join(' ');

const INPUT_SCHEMA = {
  type: 'object',
  properties: {
    query: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_QUERY_LENGTH,
      description: 'A question or a place name, for example "weather in Beijing".',
    },
  },
  required: ['query'],
  additionalProperties: false,
} as const;
