import { reason, type Reason } from '@patchboard/wire';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { ServerTool, ToolContext } from '../../../core/tools/server-tool.ts';
import { aContext } from '../__fixtures__/context.ts';
import { failureOf } from '../__fixtures__/failure-of.ts';
import { startOpenMeteo } from './__fixtures__/open-meteo-server.ts';
import type { OpenMeteoStub, StubTrouble } from './__fixtures__/open-meteo-server.ts';
import { weatherTool } from './tool.ts';

const GENEROUS_MS = 60_000;
const TROUBLES: readonly (readonly [string, StubTrouble])[] = [
  ['a 500', { kind: 'status', status: 500 }],
  ['a 503', { kind: 'status', status: 503 }],
  ['a 429', { kind: 'status', status: 429 }],
  ['text that is not JSON', { kind: 'body', body: '<html>oops</html>' }],
  ['JSON of another shape', { kind: 'body', body: '[1, 2]' }],
  [
    'a response with results of another shape',
    { kind: 'body', body: '{"results": [{"name": 1}], "current": {}}' },
  ],
  ['a redirect', { kind: 'redirect', location: 'http://169.254.169.254/latest/meta-data' }],
  ['a closed connection', { kind: 'hang-up' }],
  ['a body without end', { kind: 'flood' }],
];

type Route = 'search' | 'forecast';
const LARGEST_RESPONSE = 256 * 1024;
const BODIES: readonly (readonly [Route, body: string, Reason, english: string])[] = [
  ['search', '<html>', reason('weather_response_not_json'), 'its response is not JSON'],
  ['search', '[1]', reason('weather_places_not_object'), 'its list of places is not an object'],
  ['search', '{"results": {}}', reason('weather_places_not_list'), 'its list of places is not a list'],
  ['search', '{"results": [1]}', reason('weather_place_not_object'), 'a place in its list is not an object'],
  [
    'search',
    '{"results": [{"name": "Beijing"}]}',
    reason('weather_place_incomplete'),
    'a place in its list lacks a name or coordinates',
  ],
  ['forecast', '{}', reason('weather_current_missing'), 'its response has no current weather'],
  [
    'forecast',
    '{"current": {}}',
    reason('weather_current_incomplete'),
    'its response lacks the temperature or the weather code',
  ],
];

let service: OpenMeteoStub;
let clock: number;

beforeEach(async () => {
  service = await startOpenMeteo();
  clock = Date.UTC(2026, 0, 31);
});
afterEach(() => service.close());

describe('weather.query', () => {
  it('returns the current weather at the place in the query', async () => {
    await expect(ask(aTool(), 'weather in Beijing')).resolves.toEqual({
      weather: 'Sunny',
      temperature: 25,
      apparent_temperature: 24.1,
      humidity: 40,
      precipitation: 0,
      wind_speed: 7.9,
      weather_code: 0,
      is_day: true,
      observed_at: '2026-01-31T00:15:00.000Z',
      units: { temperature: '°C', humidity: '%', precipitation: 'mm', wind_speed: 'km/h' },
      place: {
        name: 'Beijing',
        region: 'Beijing',
        country: 'China',
        latitude: 39.9075,
        longitude: 116.39723,
        timezone: 'Asia/Shanghai',
      },
      source: 'live',
      age_s: 0,
    });
  });

  it('searches in the language of the query', async () => {
    await expect(ask(aTool(), '上海今天天气怎么样')).resolves.toMatchObject({ place: { name: '上海' } });
    expect(service.requests[0]).toContain('language=zh');
  });

  it.each([
    ['weather in Paris', 'France'],
    ['weather in Paris, France', 'France'],
    ['weather in Paris, TX', 'United States'],
    ['weather in Paris, Texas', 'United States'],
    ['weather in Paris, USA', 'United States'],
    ['weather in Paris Texas', 'United States'],
    ['London, UK', 'United Kingdom'],
    ['北京市天气', 'China'],
  ])('chooses among places of one name: %s', async (query, country) => {
    await expect(ask(aTool(), query)).resolves.toMatchObject({ place: { country } });
  });

  it.each([
    [{ weather_code: 0, is_day: 0 }, 'Clear'],
    [{ weather_code: 63 }, 'Rain'],
    [{ weather_code: 42 }, 'WMO weather code 42'],
  ])('puts %j in words', async (weather, words) => {
    service.setWeather(weather);
    await expect(ask(aTool(), 'Beijing')).resolves.toMatchObject({ weather: words });
  });

  it('leaves out what the service leaves out', async () => {
    service.setWeather({ relative_humidity_2m: undefined, time: undefined, is_day: undefined });
    await expect(ask(aTool(), 'Beijing')).resolves.toMatchObject({
      humidity: null,
      observed_at: null,
      is_day: null,
    });
  });

  it.each(['weather', '今天天气怎么样', 'weather in Paris tomorrow'])(
    'refuses %j without a request to the service',
    async (query) => {
      const failure = await failureOf(ask(aTool(), query));
      expect(failure).toMatchObject({ code: 'input_invalid', issues: [{ path: '/query' }] });
      expect(failure.recommendations).toHaveLength(1);
      expect(service.requests).toEqual([]);
    },
  );

  it.each(['weather in Atlantis', 'weather in Paris, Japan'])(
    'reports that the place of %j is unknown',
    async (query) => {
      const failure = await failureOf(ask(aTool(), query));
      expect(failure).toMatchObject({ code: 'tool_failed', retryable: false });
      expect(failure.recommendations).toHaveLength(1);
    },
  );

  it.each(TROUBLES)('fails as unreachable on %s from either route', async (_, trouble) => {
    for (const route of ['search', 'forecast'] as const) {
      service.setTrouble('both', null);
      service.setTrouble(route, trouble);
      const failure = await failureOf(ask(aTool(), 'Beijing'));
      expect(failure).toMatchObject({ code: 'upstream_unreachable', retryable: true });
    }
  });

  it.each(BODIES)('gives the %s response %s a reason with a code', async (route, body, why, english) => {
    service.setTrouble(route, { kind: 'body', body });
    await expect(failureOf(ask(aTool(), 'Beijing'))).resolves.toMatchObject({
      message: `the weather service could not be used: ${english}`,
      reasons: [reason('weather_unusable', { error: english, why: [why] })],
    });
  });

  it('gives a status and a response that is too large a reason with a code', async () => {
    service.setTrouble('search', { kind: 'status', status: 503 });
    await expect(failureOf(ask(aTool(), 'Beijing'))).resolves.toMatchObject({
      message: 'the weather service could not be used: it responded with status 503',
      reasons: [
        reason('weather_unusable', {
          error: 'it responded with status 503',
          why: [reason('weather_status', { status: 503 })],
        }),
      ],
    });
    service.setTrouble('search', { kind: 'flood' });
    const large = reason('weather_response_too_large', { bytes: LARGEST_RESPONSE });
    await expect(failureOf(ask(aTool(), 'Beijing'))).resolves.toMatchObject({
      message: 'the weather service could not be used: its response is larger than 262144 bytes',
      reasons: [
        reason('weather_unusable', {
          error: 'its response is larger than 262144 bytes',
          why: [large],
        }),
      ],
    });
  });

  it.each(TROUBLES)('returns a cached report with its age on %s', async (_, trouble) => {
    const tool = aTool();
    await ask(tool, 'weather in Beijing');
    service.setTrouble('both', trouble);
    clock += 90_500;
    await expect(ask(tool, 'Beijing weather')).resolves.toMatchObject({
      temperature: 25,
      source: 'cache',
      age_s: 90,
    });
    await expect(failureOf(ask(tool, 'Paris'))).resolves.toMatchObject({ code: 'upstream_unreachable' });
  });

  it('returns a cached report when the service does not respond within the budget', async () => {
    const tool = aTool({ budgetMs: 300 });
    // On a busy machine the first response may exceed the budget, so the request is repeated until it does not.
    await untilLive(tool);
    service.setTrouble('both', { kind: 'silence' });
    await expect(ask(tool, 'Beijing')).resolves.toMatchObject({ source: 'cache' });
  });

  it('fails as a timeout when the service does not respond within the budget', async () => {
    service.setTrouble('both', { kind: 'silence' });
    const failure = await failureOf(ask(aTool({ budgetMs: 50 }), 'Beijing'));
    expect(failure).toMatchObject({
      code: 'timeout',
      retryable: true,
      message: 'the weather service could not be used: it did not respond in time',
      reasons: [
        reason('weather_unusable', {
          error: 'it did not respond in time',
          why: [reason('weather_no_response_in_time')],
        }),
      ],
    });
  });

  it('does not return a cached report older than an hour', async () => {
    const tool = aTool();
    await ask(tool, 'Beijing');
    service.setTrouble('both', { kind: 'status', status: 502 });
    clock += 3_600_001;
    await expect(failureOf(ask(tool, 'Beijing'))).resolves.toMatchObject({ code: 'upstream_unreachable' });
  });

  it('fails as unreachable when the connection is refused', async () => {
    await service.close();
    const failure = await failureOf(ask(aTool(), 'Beijing'));
    expect(failure).toMatchObject({ code: 'upstream_unreachable' });
    // The words of the operating system are foreign text.
    const text: unknown = expect.stringContaining('ECONNREFUSED');
    expect(failure.reasons).toMatchObject([
      { code: 'weather_unusable', params: { error: text, why: [{ code: 'text', params: { text } }] } },
    ]);
  });

  it('stops when the call is aborted, cache or not', async () => {
    const tool = aTool();
    await ask(tool, 'Beijing');
    service.setTrouble('both', { kind: 'silence' });
    const stop = new AbortController();
    const running = ask(tool, 'Beijing', aContext({ signal: stop.signal }));
    stop.abort(new Error('cancelled'));
    await expect(running).rejects.toThrow();
  });

  it('sends the text of the query as one parameter, never as part of the address', async () => {
    await failureOf(ask(aTool(), 'weather in x&count=1#/../../evil?y'));
    const url = new URL(service.requests[0] ?? '', service.url);
    expect(url.pathname).toBe('/v1/search');
    expect(url.searchParams.get('name')).toBe('x&count=1#/../../evil?y');
    expect(url.searchParams.getAll('count')).toEqual(['10']);
  });

  it('keeps the path of a configured address', async () => {
    await failureOf(ask(aTool({ url: `${service.url}/proxy/` }), 'Beijing'));
    expect(service.requests[0]).toMatch(/^\/proxy\/v1\/search\?/);
  });
});

function aTool(given: { url?: string; budgetMs?: number } = {}): ServerTool {
  const url = given.url ?? service.url;
  return weatherTool({
    forecastUrl: url,
    geocodingUrl: url,
    fetch: globalThis.fetch,
    budgetMs: given.budgetMs ?? GENEROUS_MS,
    now: () => clock,
  });
}

async function ask(tool: ServerTool, query: string, context: ToolContext = aContext()): Promise<unknown> {
  return await tool.execute({ query }, context);
}

async function untilLive(tool: ServerTool): Promise<void> {
  for (;;) {
    const report = await ask(tool, 'Beijing').catch(() => undefined);
    if (report !== undefined) return;
  }
}
