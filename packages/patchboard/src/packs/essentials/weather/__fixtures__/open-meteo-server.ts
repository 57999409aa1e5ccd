import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A place of the geocoding service, with its Chinese name. */
interface StubPlace {
  readonly name: string;
  /** The name shown when `language=zh`. */
  readonly zh?: string;
  readonly country: string;
  readonly country_code: string;
  readonly admin1: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly timezone: string;
}

/** Members of `current`; they override those of a clear day at 25 °C. */
type StubWeather = Readonly<Record<string, unknown>>;

/** How a route misbehaves until `setTrouble` resets it. */
export type StubTrouble =
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'body'; readonly body: string }
  | { readonly kind: 'redirect'; readonly location: string }
  /** Accepts the request and never responds. */
  | { readonly kind: 'silence' }
  /** Closes the connection without a response. */
  | { readonly kind: 'hang-up' }
  /** Sends an endless response. */
  | { readonly kind: 'flood' };

export interface OpenMeteoStub {
  /** Origin for both the forecast and the geocoding service. */
  readonly url: string;
  /** Paths with their queries, in order. */
  readonly requests: readonly string[];
  setWeather(weather: StubWeather): void;
  /** Null makes the route work again. */
  setTrouble(route: 'search' | 'forecast' | 'both', trouble: StubTrouble | null): void;
  close(): Promise<void>;
}

type Route = 'search' | 'forecast';

const PLACES: readonly StubPlace[] = [
  place('Beijing', '北京', 'China', 'CN', 'Beijing', 39.9075, 116.39723, 'Asia/Shanghai'),
  place('Shanghai', '上海', 'China', 'CN', 'Shanghai', 31.22222, 121.45806, 'Asia/Shanghai'),
  place('Paris', '巴黎', 'France', 'FR', 'Île-de-France', 48.85341, 2.3488, 'Europe/Paris'),
  place('Paris', '帕里斯', 'United States', 'US', 'Texas', 33.66094, -95.55551, 'America/Chicago'),
  place('New York', '纽约', 'United States', 'US', 'New York', 40.71427, -74.00597, 'America/New_York'),
  place('London', '伦敦', 'United Kingdom', 'GB', 'England', 51.50853, -0.12574, 'Europe/London'),
];

const WEATHER: StubWeather = {
  time: '2026-01-31T08:15',
  interval: 900,
  temperature_2m: 25,
  relative_humidity_2m: 40,
  apparent_temperature: 24.1,
  is_day: 1,
  precipitation: 0,
  weather_code: 0,
  wind_speed_10m: 7.9,
};

/** A local server with Open-Meteo's wire format, for tests. */
export async function startOpenMeteo(): Promise<OpenMeteoStub> {
  let weather: StubWeather = WEATHER;
  const requests: string[] = [];
  const troubles = new Map<Route, StubTrouble>();
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    const url = new URL(request.url ?? '/', 'http://stub');
    const route = routeOf(url.pathname);
    const trouble = route === undefined ? undefined : troubles.get(route);
    if (trouble !== undefined) misbehave(trouble, request, response);
    else if (route === 'search') respond(response, 200, search(url.searchParams));
    else if (route === 'forecast') respond(response, 200, forecast(weather, url.searchParams));
    else respond(response, 404, { error: true, reason: 'Not Found' });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    setWeather: (next) => {
      weather = { ...WEATHER, ...next };
    },
    setTrouble: (route, trouble) => {
      for (const one of route === 'both' ? (['search', 'forecast'] as const) : [route]) {
        if (trouble === null) troubles.delete(one);
        else troubles.set(one, trouble);
      }
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function routeOf(path: string): Route | undefined {
  if (path === '/v1/search') return 'search';
  return path === '/v1/forecast' ? 'forecast' : undefined;
}

function search(query: URLSearchParams): unknown {
  const name = (query.get('name') ?? '').toLowerCase();
  const chinese = query.get('language') === 'zh';
  const hits = PLACES
    .filter((entry) => entry.name.toLowerCase() === name || entry.zh === name)
    .slice(0, Number(query.get('count') ?? 10))
    .map(({ zh, ...entry }, index) => ({
      id: index + 1,
      ...entry,
      name: chinese ? (zh ?? entry.name) : entry.name,
      elevation: 49,
      feature_code: 'PPLC',
    }));
  // The service omits the list if nothing matches.
  return hits.length === 0 ? { generationtime_ms: 0.5 } : { results: hits, generationtime_ms: 0.5 };
}

function forecast(weather: StubWeather, query: URLSearchParams): unknown {
  const wanted = (query.get('current') ?? '').split(',');
  const shown = ['time', 'interval', ...wanted].filter((name) => name in weather);
  return {
    latitude: Number(query.get('latitude')),
    longitude: Number(query.get('longitude')),
    generationtime_ms: 0.05,
    utc_offset_seconds: 28800,
    timezone: 'Asia/Shanghai',
    timezone_abbreviation: 'GMT+8',
    elevation: 49,
    current_units: {
      time: 'iso8601',
      interval: 'seconds',
      temperature_2m: '°C',
      relative_humidity_2m: '%',
      apparent_temperature: '°C',
      is_day: '',
      precipitation: 'mm',
      weather_code: 'wmo code',
      wind_speed_10m: 'km/h',
    },
    current: Object.fromEntries(shown.map((name) => [name, weather[name]])),
  };
}

function misbehave(trouble: StubTrouble, request: IncomingMessage, response: ServerResponse): void {
  switch (trouble.kind) {
    case 'status':
      return respond(response, trouble.status, { error: true, reason: 'scripted' });
    case 'body':
      response.writeHead(200, { 'content-type': 'application/json' }).end(trouble.body);
      return;
    case 'redirect':
      response.writeHead(302, { location: trouble.location }).end();
      return;
    case 'silence':
      return;
    case 'hang-up':
      request.socket.destroy();
      return;
    case 'flood':
      response.writeHead(200, { 'content-type': 'application/json' });
      flood(response);
      return;
  }
}

function flood(response: ServerResponse): void {
  const chunk = ' '.repeat(64 * 1024);
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', more);
  more();
}

function respond(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}

function place(
  name: string,
  zh: string,
  country: string,
  country_code: string,
  admin1: string,
  latitude: number,
  longitude: number,
  timezone: string,
): StubPlace {
  return { name, zh, country, country_code, admin1, latitude, longitude, timezone };
}
